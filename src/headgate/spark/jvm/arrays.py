"""Arrays of JVM objects, made in bulk from Python.

Every call of the JVM takes a fraction of a millisecond, so none is made per element. A function of
the index is put together out of functions that the JVM has, and the JVM fills an array with it.
Functions are a ``java.lang.invoke.MethodHandle``. Signatures are written as class files write them:
``(JLjava/net/URI;)V`` takes a long and a URI and gives nothing.

``new FileStatus(size, false, 1, block, time, new Path(URI.create(uri)))`` for each of 200,000 files is put
together once,

    then(URI.create, new Path)  →  fixed(new FileStatus, 1, false, 1, block)  →  with_last(…)  →  each(…)

and ``Arrays.setAll(files, i -> …)`` calls it in the JVM, for all of them by one call of py4j.

``benchmarks/scan.py``, where it plans 20,000 files, and ``benchmarks/many_files.py`` justify it.
"""

import sys
from array import array
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from py4j.java_gateway import JavaObject

_KINDS = {"int": "i", "long": "q"}
_FILLS = {
    "object": ("java.util.function.IntFunction", "([Ljava/lang/Object;Ljava/util/function/IntFunction;)V"),
    "int": ("java.util.function.IntUnaryOperator", "([ILjava/util/function/IntUnaryOperator;)V"),
}


class MethodHandles:
    """Functions of a JVM, and how they are put together."""

    def __init__(self, gateway: Any) -> None:
        self._gateway, jvm = gateway, gateway.jvm
        self._class, self._object, self._int = jvm.java.lang.Class, jvm.java.lang.Object, jvm.int
        self._handle, self._handles = jvm.java.lang.invoke.MethodHandle, jvm.java.lang.invoke.MethodHandles
        self._type, self._lookup = jvm.java.lang.invoke.MethodType, self._handles.publicLookup()
        self._index = jvm.java.lang.Integer.TYPE
        self._loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()

    def named(self, owner: str) -> JavaObject:
        """A class."""
        return self._class.forName(owner, True, self._loader)  # noqa: FBT003 - Java's

    def constructor(self, owner: str, signature: str) -> JavaObject:
        """What makes an object of a class."""
        return self._lookup.findConstructor(self.named(owner), self._signature(signature))

    def static(self, owner: str, name: str, signature: str) -> JavaObject:
        """A method that needs no object."""
        return self._lookup.findStatic(self.named(owner), name, self._signature(signature))

    def method(self, owner: str, name: str, signature: str) -> JavaObject:
        """A method of objects, which are its first argument."""
        return self._lookup.findVirtual(self.named(owner), name, self._signature(signature))

    def spread(self, function: JavaObject, *kinds: JavaObject) -> JavaObject:
        """A function whose last argument is an array as one of elements of these classes."""
        before = function.type().parameterCount() - 1
        spread = function.asCollector(function.type().lastParameterType(), len(kinds))
        return spread.asType(self._with_parameters(spread.type(), before, kinds))

    def fixed(self, function: JavaObject, position: int, *values: Any) -> JavaObject:
        """A function with these as its arguments from a position on."""
        return self._handles.insertArguments(function, position, self._array(self._object, values))

    def then(self, *functions: JavaObject) -> JavaObject:
        """One function after the other, each of what the one before it gives."""
        made, *others = functions
        for function in others:
            made = self._handles.filterReturnValue(made, function)
        return made

    def with_last(self, function: JavaObject, made: JavaObject) -> JavaObject:
        """A function of what the last of its arguments is made of."""
        return self._handles.collectArguments(function, function.type().parameterCount() - 1, made)

    def between(self, function: JavaObject, position: int, *kinds: JavaObject) -> JavaObject:
        """A function with more arguments, from a position on, of which it makes no use."""
        return self._handles.dropArguments(function, position, self._array(self._class, kinds))

    def of_type(self, function: JavaObject, signature: str) -> JavaObject:
        """A function with arguments and a result of other classes, to which they are cast."""
        return function.asType(self._signature(signature))

    def either(self, test: JavaObject, chosen: JavaObject, other: JavaObject) -> JavaObject:
        """One function or the other, which have the same arguments; the test may have fewer of them."""
        return self._handles.guardWithTest(test, chosen, other)

    def at(self, elements: JavaObject) -> JavaObject:
        """The element of an array at the index."""
        return self._handles.arrayElementGetter(elements.getClass()).bindTo(elements)

    def each(self, function: JavaObject) -> JavaObject:
        """A function of arrays and an index: ``function`` of their elements there."""
        kinds, made = list(function.type().parameterArray()), function
        # From the last on, so that the positions of those before stay what they are.
        for position, kind in reversed(list(enumerate(kinds))):
            getter = self._handles.arrayElementGetter(kind.arrayType())
            made = self._handles.collectArguments(made, position, getter)
        order = self._gateway.new_array(self._int, 2 * len(kinds))
        for position in range(len(kinds)):
            order[2 * position], order[2 * position + 1] = position, len(kinds)
        wanted = [*(kind.arrayType() for kind in kinds), self._index]
        return self._handles.permuteArguments(
            made, self._type.methodType(function.type().returnType(), wanted), order
        )

    def as_number(self, function: JavaObject) -> JavaObject:
        """A function that is true or false as one that is 1 or 0."""
        return self._handles.explicitCastArguments(function, function.type().changeReturnType(self._index))

    def _signature(self, text: str) -> JavaObject:
        return self._type.fromMethodDescriptorString(text, self._loader)

    def _with_parameters(self, signature: JavaObject, start: int, kinds: Sequence[JavaObject]) -> JavaObject:
        for position, kind in enumerate(kinds, start):
            signature = signature.changeParameterType(position, kind)
        return signature

    def _array(self, kind: Any, values: Sequence[Any]) -> JavaObject:
        made = self._gateway.new_array(kind, len(values))
        for position, value in enumerate(values):
            made[position] = value
        return made


class JvmArrays:
    """Arrays of a JVM."""

    def __init__(self, gateway: Any, functions: MethodHandles) -> None:
        self._gateway, jvm, self._functions = gateway, gateway.jvm, functions
        self._new, self._buffers = jvm.java.lang.reflect.Array.newInstance, jvm.java.nio.ByteBuffer
        self._primitives, self._string = {"int": jvm.int, "long": jvm.long}, jvm.java.lang.String
        self._utf8 = jvm.java.nio.charset.StandardCharsets.UTF_8
        self._little, self._lines = (
            jvm.java.nio.ByteOrder.LITTLE_ENDIAN,
            jvm.java.util.regex.Pattern.compile("\n"),
        )
        self._as_interface = jvm.java.lang.invoke.MethodHandleProxies.asInterfaceInstance
        self._fills = {
            kind: (functions.named(interface), functions.static("java.util.Arrays", "setAll", signature))
            for kind, (interface, signature) in _FILLS.items()
        }

    def map(self, each: JavaObject, length: int, *arrays: JavaObject) -> JavaObject:
        """An array of what a function, made by ``each``, gives for every index of these arrays."""
        return self._made(length, self._functions.fixed(each, 0, *arrays))

    def of(self, kind: JavaObject, *elements: Any) -> JavaObject:
        """The elements, in an array of a class."""
        made = self._new(kind, len(elements))
        for position, element in enumerate(elements):
            made[position] = element
        return made

    def choose(self, elements: JavaObject, indexes: Sequence[int]) -> JavaObject:
        """Some elements of an array, in one of its own."""
        chosen = self._functions.at(self._unpacked("int", little_endian("int", indexes)))
        return self._made(len(indexes), self._functions.then(chosen, self._functions.at(elements)))

    def flags(self, function: JavaObject, elements: JavaObject) -> bytes:
        """A byte for each element: whether a function is true of it."""
        numbers = self._gateway.new_array(self._primitives["int"], length := len(elements))
        is_true = self._functions.then(self._functions.at(elements), function)
        self._filled("int", numbers, self._functions.as_number(is_true))
        buffer = self._buffers.allocate(4 * length)
        buffer.asIntBuffer().put(numbers)
        return bytes(buffer.array()[3::4])  # the last byte of each: Java puts the high ones first

    def longs(self, values: bytes) -> JavaObject:
        """A long[], of little-endian bytes."""
        return self._unpacked("long", values)

    def texts(self, values: pa.StringArray) -> JavaObject:
        """A String[]; none may be empty or have a line break."""
        if not len(values):
            return self._gateway.new_array(self._string, 0)
        whole = pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
        joined = pc.binary_join(whole, "\n")[0].as_buffer().to_pybytes()
        # As bytes: a text of this length py4j would take apart character by character.
        return self._lines.split(self._utf8.decode(self._buffers.wrap(joined)))

    def _made(self, length: int, function: JavaObject) -> JavaObject:
        return self._filled("object", self._new(function.type().returnType(), length), function)

    def _filled(self, kind: str, elements: JavaObject, function: JavaObject) -> JavaObject:
        interface, fill = self._fills[kind]
        # By its handle: py4j would not take an array of a class for one of objects.
        fill.invokeWithArguments([elements, self._as_interface(interface, function)])
        return elements

    def _unpacked(self, kind: str, values: bytes) -> JavaObject:
        made = self._gateway.new_array(self._primitives[kind], len(values) // array(_KINDS[kind]).itemsize)
        buffer = self._buffers.wrap(values).order(self._little)
        (buffer.asIntBuffer() if kind == "int" else buffer.asLongBuffer()).get(made)
        return made


def little_endian_longs(values: pa.Int64Array) -> bytes:
    """Numbers, none of which is null, as little-endian bytes."""
    return bytes(values.to_numpy().astype("<i8", copy=False).tobytes())


def little_endian(kind: str, values: Sequence[int]) -> bytes:
    """Numbers as little-endian bytes."""
    numbers = array(_KINDS[kind], values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def native_endian(kind: str, values: Sequence[int]) -> bytes:
    """Numbers as this machine stores them, so as a JVM on it does."""
    return array(_KINDS[kind], values).tobytes()
