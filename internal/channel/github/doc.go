// Package github asks on issues and pull requests of GitHub, and takes comments
// of people with write access as answers. It translates and decides nothing:
// who may answer, and what an answer means, is known to the server.
//
// Everything that was not written by Fermata stands in a comment as text that
// GitHub does not obey: it mentions nobody, links nothing and closes no issue.
package github
