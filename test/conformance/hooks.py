"""What the tester must not count as invalid.

The API takes a null for an absent field and an empty query parameter for an absent one,
as existing clients send them (docs/api.md)."""

import schemathesis


def has_null(value):
    if isinstance(value, dict):
        return any(has_null(v) for v in value.values())
    if isinstance(value, list):
        return any(has_null(v) for v in value)
    return value is None


@schemathesis.hook
def filter_body(context, body):
    return body is None or not has_null(body)


@schemathesis.hook
def filter_query(context, query):
    return not query or not any(v in ("", None, "null", []) or v == [""] for v in query.values())


@schemathesis.hook
def filter_case(context, case):
    return filter_body(context, case.body) and filter_query(context, case.query)
