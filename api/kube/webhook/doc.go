// Package webhook refuses changes of resources that can have no effect any more, or that their controllers would refuse by a condition. It
// decides as the existing service's pkg/webhooks does; rules that need only the resource's spec are CEL rules of the definitions. Where no
// process answers, the API server admits a change, and the condition says what is wrong.
package webhook
