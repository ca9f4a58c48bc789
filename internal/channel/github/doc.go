// Package github asks questions on issues and pull requests of GitHub, and
// takes comments of people with write access as answers. It only translates and
// decides nothing: the server knows who may answer, and what an answer means.
//
// Text that Fermata did not write is escaped in comments. So GitHub gives no
// meaning to it: the text mentions nobody, links nothing and closes no issue.
package github
