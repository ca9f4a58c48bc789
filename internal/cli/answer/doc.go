// Package answer holds the commands with which people answer a question, and what chat and inbox share with them: it
// reads answers, shows forms, and obtains consent before an answer is sent.
package answer
