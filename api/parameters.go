package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"slipway/internal/model"
)

// badParameter explains why a parameter could not be read.
func badParameter(r *http.Request, err error) error {
	var format *InvalidParamFormatError
	var missing *RequiredParamError
	switch {
	case errors.As(err, &missing):
		return model.Invalidf("%s is required", missing.ParamName)
	case errors.As(err, &format):
		found := chi.URLParam(r, format.ParamName)
		if found == "" {
			found = r.URL.Query().Get(format.ParamName)
		}
		return model.Invalidf("%s: require %s, found %q", format.ParamName, parameterKind(format.ParamName), found)
	}
	return model.Invalidf("%s", err)
}

func parameterKind(name string) string {
	if strings.HasSuffix(name, "_id") {
		return "a UUID"
	}
	return "a value of the right type"
}
