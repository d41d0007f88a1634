// Package answers makes what the API shows of hosts. Most of it changes with the host's row only: it is rendered when the row is written,
// kept beside it, and passed through when hosts are read. The rest, such as when the host was heard last, is added at each reading.
package answers
