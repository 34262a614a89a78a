"""An object of Python that the JVM calls, some of whose answers the JVM knows beforehand.

A call from the JVM to Python takes a fraction of a millisecond. So an object stands before that of
Python which looks a method up by its name among constants, and passes on what it does not find.

While Spark plans a query it asks an index of files nine times for ``rootPaths()``. The answer is among the
constants, so the JVM gives it itself; ``listFiles(…)`` is not, and goes to Python.

``benchmarks/scan.py`` justifies it, with small queries that have a filter.
"""

from collections.abc import Mapping
from typing import Any

from py4j.java_gateway import JavaObject

from headgate.spark.jvm.arrays import MethodHandles

_HANDLER, _METHOD, _MAP = "java.lang.reflect.InvocationHandler", "java.lang.reflect.Method", "java.util.Map"
_HANDLES = "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;"


class ProxyFactory:
    """Makes such objects, of one interface."""

    def __init__(self, gateway: Any, functions: MethodHandles, interface: str) -> None:
        jvm = gateway.jvm
        self._functions, self._map = functions, jvm.java.util.HashMap
        self._proxy = jvm.java.lang.reflect.Proxy
        self._as_interface = jvm.java.lang.invoke.MethodHandleProxies.asInterfaceInstance
        self._handler, wanted = functions.named(_HANDLER), functions.named(interface)
        self._loader = wanted.getClassLoader()
        self._interfaces = gateway.new_array(jvm.java.lang.Class, 1)
        self._interfaces[0] = wanted
        self._handle = functions.method(_HANDLER, "invoke", _HANDLES)
        self._is_known = self._of_name("containsKey", "(Ljava/lang/Object;)Z")
        self._known = self._of_name("get", "(Ljava/lang/Object;)Ljava/lang/Object;")

    def __call__(self, asked: Any, constants: Mapping[str, JavaObject]) -> JavaObject:
        """What answers in place of an object of Python, which lives as long as this."""
        known = self._map()
        for method, constant in constants.items():
            known.put(method, constant)
        passed_on = self._handle.bindTo(self._proxy.getInvocationHandler(asked))
        handled = self._functions.either(self._is_known.bindTo(known), self._known.bindTo(known), passed_on)
        handler = self._as_interface(self._handler, handled)
        return self._proxy.newProxyInstance(self._loader, self._interfaces, handler)

    def _of_name(self, name: str, signature: str) -> JavaObject:
        """A method of maps as a function of what a handler is called with, whose key is the method's name."""
        functions = self._functions
        of_map = functions.method(_MAP, name, signature)
        key = functions.of_type(
            functions.method(_METHOD, "getName", "()Ljava/lang/String;"),
            "(Ljava/lang/reflect/Method;)Ljava/lang/Object;",
        )
        _, before, _, after = self._handle.type().parameterArray()
        named = functions.between(functions.with_last(of_map, key), 1, before)
        return functions.between(named, 3, after)
