package validation

import (
	"encoding/json"
	"fmt"

	"slipway/internal/model"
)

// Categories of rules, the keys of validations_info.
const (
	CategoryHardware      = "hardware"
	CategoryNetwork       = "network"
	CategoryHostsData     = "hosts-data"
	CategoryConfiguration = "configuration"
	CategoryOperators     = "operators"
)

// verdict is the result of one rule.
type verdict struct {
	status  model.ValidationStatus
	message string
	// silent verdicts are passes that are not shown: the rule does not apply to this host.
	silent bool
}

func success(format string, args ...any) verdict {
	return verdict{status: model.ValidationSuccess, message: fmt.Sprintf(format, args...)}
}

func failure(format string, args ...any) verdict {
	return verdict{status: model.ValidationFailure, message: fmt.Sprintf(format, args...)}
}

func pending(format string, args ...any) verdict {
	return verdict{status: model.ValidationPending, message: fmt.Sprintf(format, args...)}
}

func broken(format string, args ...any) verdict {
	return verdict{status: model.ValidationError, message: fmt.Sprintf(format, args...)}
}

// irrelevant passes without being shown.
func irrelevant() verdict { return verdict{status: model.ValidationSuccess, silent: true} }

// infoEntry is a result as clients read it.
type infoEntry struct {
	ID      string                 `json:"id"`
	Status  model.ValidationStatus `json:"status"`
	Message string                 `json:"message"`
}

// Info makes the validations_info string of results: a JSON object of category to list, "{}" without any.
func Info(results []model.ValidationResult) string {
	byCategory := make(map[string][]infoEntry, 4)
	for _, r := range results {
		byCategory[r.Category] = append(byCategory[r.Category], infoEntry{r.ID, r.Status, r.Message})
	}
	out, err := json.Marshal(byCategory)
	if err != nil {
		return "{}" // strings in maps always marshal
	}
	return string(out)
}
