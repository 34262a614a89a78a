"""Which functions may SQL text call that is stored in a table?

Whoever writes to a table has its constraints, defaults and generated columns evaluated, in their own
session. So only functions of Spark are allowed that look at nothing but their arguments: none that runs
other code (``reflect``, ``java_method``), none that reads files or the network (``xpath`` loads the DTD
that a document names, ``from_xml`` a schema, ``from_protobuf`` a descriptor), none that tells of the
session, and none whose answers change from row to row (``rand``, ``uuid``). Aggregates, window functions
and generators are none of a row's business.
"""

from dataclasses import dataclass
from enum import Enum


class ExpressionPlace(Enum):
    """Where a table keeps SQL text."""

    CONSTRAINT = "CHECK constraint"
    GENERATED = "generated column"
    DEFAULT = "default"


EVERYWHERE = frozenset(ExpressionPlace)
_ROWS = frozenset({ExpressionPlace.CONSTRAINT, ExpressionPlace.DEFAULT})
_NEW_ROWS = frozenset({ExpressionPlace.DEFAULT})


@dataclass(frozen=True, slots=True)
class FunctionGroup:
    """One row: what kind of functions, in which places, and their names."""

    kind: str
    names: frozenset[str]
    places: frozenset[ExpressionPlace] = EVERYWHERE


def _group(kind: str, names: str, places: frozenset[ExpressionPlace] = EVERYWHERE) -> FunctionGroup:
    return FunctionGroup(kind, frozenset(names.split()), places)


FUNCTION_GROUPS: tuple[FunctionGroup, ...] = (
    _group(
        "conditions",
        """and or not in between like ilike rlike regexp regexp_like equal_null isnan isnull isnotnull case
        when coalesce if ifnull nanvl nullif nullifzero nvl nvl2 zeroifnull assert_true raise_error
        typeof""",
    ),
    _group(
        "numbers",
        """abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc
        degrees div e exp expm1 factorial floor greatest hex hypot least ln log log10 log1p log2 mod
        negative pi pmod positive pow power radians rint round sec sign signum sin sinh sqrt tan tanh
        try_add try_divide try_mod try_multiply try_subtract unhex width_bucket""",
    ),
    _group("bits", "bit_count bit_get getbit shiftleft shiftright shiftrightunsigned"),
    _group(
        "texts",
        """ascii base64 bit_length btrim char char_length character_length chr collate collation concat
        concat_ws contains decode elt encode endswith find_in_set format_number format_string initcap
        instr is_valid_utf8 lcase left len length levenshtein locate lower lpad ltrim luhn_check
        make_valid_utf8 mask octet_length overlay position printf quote regexp_count regexp_extract
        regexp_extract_all regexp_instr regexp_replace regexp_substr repeat replace reverse right rpad
        rtrim sentences soundex space split split_part startswith substr substring substring_index
        to_binary to_char to_number to_varchar translate trim try_to_binary try_to_number
        try_validate_utf8 ucase unbase64 upper validate_utf8 parse_url try_parse_url try_url_decode
        url_decode url_encode""",
    ),
    _group(
        "dates and times",
        """add_months convert_timezone date_add date_diff date_format date_from_unix_date date_part
        date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear extract
        from_unixtime from_utc_timestamp hour last_day make_date make_dt_interval make_interval
        make_time make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month
        monthname months_between next_day quarter second time_bucket time_diff time_from_micros
        time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds time_trunc
        timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff to_date to_time
        to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp trunc
        try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_to_date
        try_to_time try_to_timestamp unix_date unix_micros unix_millis unix_seconds unix_timestamp
        weekday weekofyear window year""",
    ),
    _group("hashes", "crc32 hash md5 sha sha1 sha2 xxhash64"),
    _group(
        "casts",
        """bigint binary boolean cast date decimal double float int smallint string time timestamp tinyint
        try_cast""",
    ),
    _group(
        "arrays, maps and structs",
        """array array_append array_compact array_contains array_distinct array_except array_insert
        array_intersect array_join array_max array_min array_position array_prepend array_remove
        array_repeat array_size array_sort array_union arrays_overlap arrays_zip aggregate cardinality
        element_at exists filter flatten forall get map map_concat map_contains_key map_entries
        map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with named_struct reduce
        sequence size slice sort_array str_to_map struct transform transform_keys transform_values
        try_element_at zip_with""",
    ),
    _group(
        "JSON, CSV and variants",
        """from_csv from_json get_json_object is_valid_variant is_variant_null json_array_length
        json_object_keys parse_json schema_of_csv schema_of_json schema_of_variant to_csv to_json
        to_variant_object try_parse_json try_variant_get variant_get""",
    ),
    _group("bitmaps", "bitmap_bit_position bitmap_bucket_number bitmap_count"),
    _group(
        "vectors and places",
        """vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize
        st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid""",
    ),
    _group("the moment, once a query, as Delta allows it", "now"),
    _group("the moment", "curdate current_date current_time current_timestamp localtimestamp", _ROWS),
    _group("who writes", "current_user session_user user", _NEW_ROWS),
)

WITHOUT_PARENTHESES = frozenset({"current_date", "current_time", "current_timestamp", "localtimestamp"}) | {
    "current_user", "session_user", "current_catalog", "current_schema", "current_database", "current_path",
}  # fmt: skip
"""Names that Spark takes for a call even without parentheses, unless a column has them.

``user`` is one of these too. Many tables have such a column, and it tells nothing but who writes.
"""

_PLACES = {name: row.places for row in FUNCTION_GROUPS for name in row.names}


def is_allowed(name: str, place: ExpressionPlace) -> bool:
    """Whether text in this place may call a function of that name, which ignores case."""
    return place in _PLACES.get(name.lower(), frozenset())
