package api

// or returns text, or otherwise when it is empty.
func or(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// deref returns the value of a field that a client may leave out.
func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orEmptyMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}
