// Package arch holds the test that keeps imports within the rules of the code base.
package arch
