package service

import (
	"fmt"
	"os"

	"slipway/internal/app/settings"
	"slipway/internal/images/release/signature"
	"slipway/internal/model"
)

// readSignatures reads how releases are verified.
func readSignatures(o settings.Deployment) (out signature.Options, err error) {
	for _, file := range o.SignatureKeys {
		keys, err := readKeys(file, signature.ParseKeys)
		if err != nil {
			return out, fmt.Errorf("read --release-signature-keys: %w", err)
		}
		out.Keys = append(out.Keys, keys...)
	}
	for _, file := range o.CosignKeys {
		keys, err := readKeys(file, signature.ParseCosignKeys)
		if err != nil {
			return out, fmt.Errorf("read --release-cosign-keys: %w", err)
		}
		out.CosignKeys = append(out.CosignKeys, keys...)
	}
	for _, address := range o.SignatureStores {
		store, err := signature.ParseStore(address)
		if err != nil {
			return out, fmt.Errorf("read --release-signature-stores: %w", err)
		}
		out.Stores = append(out.Stores, store)
	}
	if out.Policy, err = signature.ParsePolicy(o.Signatures, len(out.Keys)+len(out.CosignKeys) > 0); err != nil {
		return out, fmt.Errorf("read --release-signatures: %w", err)
	}
	if out.Policy == signature.Off {
		return out, nil
	}
	switch keys, stores := len(out.Keys) > 0, len(out.Stores) > 0; {
	case keys && !stores:
		return out, fmt.Errorf("read --release-signature-keys: %w",
			model.Invalidf("require --release-signature-stores, where signatures by these keys are"))
	case stores && !keys:
		return out, fmt.Errorf("read --release-signature-stores: %w",
			model.Invalidf("require --release-signature-keys, which signatures of these stores are by"))
	}
	return out, nil
}

// readKeys reads the keys of a file.
func readKeys[K any](file string, parse func([]byte) (K, error)) (keys K, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return keys, err
	}
	if keys, err = parse(data); err != nil {
		return keys, fmt.Errorf("%s: %w", file, err)
	}
	return keys, nil
}
