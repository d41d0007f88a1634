package lifecycle

import (
	"strings"
)

// when is a condition with its text, so that the tables can be printed.
type when[F any] struct {
	text string
	test func(*F) bool
}

func cond[F any](text string, test func(*F) bool) when[F] { return when[F]{text, test} }

func and[F any](list ...when[F]) when[F] {
	return when[F]{join("And", list), func(f *F) bool {
		for _, w := range list {
			if !w.test(f) {
				return false
			}
		}
		return true
	}}
}

func or[F any](list ...when[F]) when[F] {
	return when[F]{join("Or", list), func(f *F) bool {
		for _, w := range list {
			if w.test(f) {
				return true
			}
		}
		return false
	}}
}

func not[F any](w when[F]) when[F] {
	return when[F]{"!" + w.text, func(f *F) bool { return !w.test(f) }}
}

func join[F any](name string, list []when[F]) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.text
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}
