// Package classification labels Agents by the queries of resources AgentClassification. Evaluate, Labels and Status decide, without asking
// anybody; Labeler and Counter read and apply.
package classification

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
)

// queryLimit is how long a query may take for one Agent: jq has loops without an end.
const queryLimit = time.Second

// queryError begins the value of a label whose query ended with an error.
const queryError = "QUERYERROR-"

// Check returns what is wrong with a classification; the error is its user's.
func Check(spec *agentinstall.AgentClassificationSpec) error {
	if err := checkLabel(spec); err != nil {
		return err
	}
	if _, err := compile(spec.Query); err != nil {
		return fmt.Errorf("spec.query: %w", err)
	}
	return nil
}

func checkLabel(spec *agentinstall.AgentClassificationSpec) error {
	if faults := validation.IsQualifiedName(agentinstall.ClassificationLabel + spec.LabelKey); len(faults) > 0 {
		return fmt.Errorf("spec.labelKey: require the name of a label without a prefix, found %q (%s)", spec.LabelKey, strings.Join(faults, "; "))
	}
	// The value after queryError has to be one too.
	value := spec.LabelValue
	if len(validation.IsValidLabelValue(queryError+value)) > 0 || strings.HasPrefix(value, "QUERYERROR") {
		return fmt.Errorf("spec.labelValue: require the value of a label, of at most %d characters, that does not begin with QUERYERROR, "+
			"found %q", validation.LabelValueMaxLength-len(queryError), value)
	}
	return nil
}

func compile(query string) (*gojq.Code, error) {
	parsed, err := gojq.Parse(query)
	if err != nil {
		return nil, fmt.Errorf("require a jq program: %w", err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, fmt.Errorf("require a jq program: %w", err)
	}
	return code, nil
}

// Evaluate returns the answer of a query to an inventory. An answer that is no boolean is false.
func Evaluate(ctx context.Context, query string, inventory *agentinstall.HostInventory) (bool, error) {
	code, err := compile(query)
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(inventory)
	if err != nil {
		return false, fmt.Errorf("encode the inventory: %w", err)
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		return false, fmt.Errorf("read the inventory: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	answers := code.RunWithContext(ctx, input)
	first, ok := answers.Next()
	if !ok {
		return false, errors.New("require one boolean, found no answer")
	}
	if err, failed := first.(error); failed {
		return false, err
	}
	if second, more := answers.Next(); more {
		if err, failed := second.(error); failed {
			return false, err
		}
		return false, errors.New("require one boolean, found several answers")
	}
	matches, _ := first.(bool)
	return matches, nil
}

// Labels returns the labels that an Agent has after all classifications of its namespace. Of several with one key, the last by name that
// matches wins. An Agent whose inventory has not come keeps its labels.
func Labels(ctx context.Context, a *agentinstall.Agent, list []agentinstall.AgentClassification) map[string]string {
	labels := maps.Clone(a.Labels)
	list = slices.SortedFunc(slices.Values(list), func(a, b agentinstall.AgentClassification) int { return strings.Compare(a.Name, b.Name) })
	wanted := map[string]string{}
	for n := range list {
		c := &list[n]
		key := agentinstall.ClassificationLabel + c.Spec.LabelKey
		value, known := wantedValue(ctx, a, c)
		if value != "" {
			wanted[key] = value
		}
		if found := labels[key]; known && (found == c.Spec.LabelValue || found == queryError+c.Spec.LabelValue) {
			delete(labels, key)
		}
	}
	if labels == nil {
		return wanted
	}
	maps.Copy(labels, wanted)
	return labels
}

// wantedValue returns the value of the label that a classification puts on an Agent; empty: none; false: it is not known yet.
func wantedValue(ctx context.Context, a *agentinstall.Agent, c *agentinstall.AgentClassification) (string, bool) {
	switch {
	case !c.DeletionTimestamp.IsZero(), checkLabel(&c.Spec) != nil: // a label that cannot be put is said in the status
		return "", true
	case a.Status.Inventory.Hostname == "" && a.Status.Inventory.Cpu.Count == 0:
		return "", false
	}
	matches, err := Evaluate(ctx, c.Spec.Query, &a.Status.Inventory)
	switch {
	case err != nil:
		return queryError + c.Spec.LabelValue, true
	case matches:
		return c.Spec.LabelValue, true
	}
	return "", true
}

// Status counts the Agents that a classification has labelled.
func Status(c *agentinstall.AgentClassification, agents []agentinstall.Agent, now metav1.Time) agentinstall.AgentClassificationStatus {
	status := *c.Status.DeepCopy()
	status.MatchedCount, status.ErrorCount = 0, 0
	for n := range agents {
		switch agents[n].Labels[agentinstall.ClassificationLabel+c.Spec.LabelKey] {
		case c.Spec.LabelValue:
			status.MatchedCount++
		case queryError + c.Spec.LabelValue:
			status.ErrorCount++
		}
	}
	condition := resource.Condition(agentinstall.QueryErrors, corev1.ConditionFalse, agentinstall.ReasonNoQueryErrors,
		"No Agents failed to apply the classification", now)
	switch wrong := Check(&c.Spec); {
	case wrong != nil:
		condition.Status, condition.Reason, condition.Message = corev1.ConditionTrue, agentinstall.ReasonHasQueryErrors, wrong.Error()
	case status.ErrorCount > 0:
		condition.Status, condition.Reason = corev1.ConditionTrue, agentinstall.ReasonHasQueryErrors
		condition.Message = fmt.Sprintf("%d Agents failed to apply the classification", status.ErrorCount)
	}
	resource.SetCondition(&status.Conditions, condition)
	return status
}
