package frontend

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"
)

const startPage = "index.html"

var (
	policyTag    = regexp.MustCompile(`(?i)<meta[^>]*http-equiv\s*=\s*["']content-security-policy["'][^>]*>`)
	inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
)

// uiPages are the web UI's files, with UIPath, the columns of lists and the titles of workflows built into the start page,
// which loads all the others relative to itself.
type uiPages struct {
	fs.FS
	start   []byte
	scripts []string // hashes of the inline scripts, for the Content-Security-Policy
}

func prefixedPages(namespace string) (*uiPages, error) {
	assets, err := uiAssets()
	if err != nil {
		return nil, err
	}
	page, err := fs.ReadFile(assets, startPage)
	if err != nil {
		return nil, fmt.Errorf("load web UI: %w", err)
	}
	prefixed := bytes.ReplaceAll(page, []byte(`base: ""`), []byte(`base: "`+UIPath+`"`))
	prefixed = bytes.ReplaceAll(prefixed, []byte(`"/_app/`), []byte(`"`+UIPath+`/_app/`))
	if bytes.Equal(page, prefixed) {
		return nil, fmt.Errorf("load web UI: its start page has no place for the path %s", UIPath)
	}
	prefixed, err = withColumns(withTitles(policyTag.ReplaceAll(prefixed, nil)), namespace)
	if err != nil {
		return nil, err
	}
	pages := &uiPages{FS: assets, start: prefixed}
	for _, script := range inlineScript.FindAllSubmatch(prefixed, -1) {
		sum := sha256.Sum256(script[1])
		pages.scripts = append(pages.scripts, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return pages, nil
}

// ReadFile reads a file of the web UI; the start page is requested this way.
func (p *uiPages) ReadFile(name string) ([]byte, error) {
	if name == startPage {
		return p.start, nil
	}
	return fs.ReadFile(p.FS, name)
}

// contentPolicy allows the UI's own files and nothing else: no script injected into a workflow's data, and no
// page that frames the buttons.
func contentPolicy(scripts []string) string {
	return strings.Join([]string{
		"default-src 'self'",
		"manifest-src 'self' data:", // the start page has it inline
		"script-src 'self' " + strings.Join(scripts, " "),
		"style-src 'self' 'unsafe-inline'", // the UI sets style attributes
		"img-src 'self' data: blob:",
		"font-src 'self' data:",
		"worker-src 'self' blob:",
		"connect-src 'self'",
		"frame-src 'self'",
		"frame-ancestors 'self'",
		"form-action 'self'",
		"base-uri 'self'",
		"object-src 'none'",
	}, "; ")
}

// securityHeaders sets headers when the reply begins, because the handlers set a weaker policy of their
// own. The renderer of user-written Markdown has a stricter one, which stays.
func securityHeaders(policy string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Before(func() {
				header := c.Response().Header()
				header.Set(echo.HeaderXContentTypeOptions, "nosniff")
				header.Set(echo.HeaderReferrerPolicy, "same-origin")
				if c.Request().URL.Path != "/render" {
					header.Set(echo.HeaderContentSecurityPolicy, policy)
				}
			})
			return next(c)
		}
	}
}
