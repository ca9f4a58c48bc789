import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Completions } from './complete';
import type { DefinitionProblem } from './types';

const look = EditorView.theme({
  '&': { fontSize: '0.8125rem', color: 'inherit', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { caretColor: 'light-dark(#1a1b1e, #f1f3f5)' },
  '.cm-cursor': { borderLeftColor: 'light-dark(#1a1b1e, #f1f3f5)' },
  '.cm-gutters': { color: 'light-dark(#5c636b, #a6adb4)', backgroundColor: 'light-dark(#f1f2f4, #212227)', border: '0' },
  '.cm-activeLineGutter': { color: 'inherit', backgroundColor: 'light-dark(#e3e5e8, #2e3036)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'light-dark(#c9c8ef, #3f3d75)' },
  '.cm-tooltip': {
    color: 'light-dark(#1a1b1e, #e9ecef)', backgroundColor: 'light-dark(#fff, #25262b)', border: '1px solid light-dark(#868e96, #6b7178)', borderRadius: '6px', maxWidth: 'min(36rem, 90vw)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mantine-font-family-monospace)', maxHeight: '14em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { color: '#fff', backgroundColor: '#3a37aa' },
  '.cm-tooltip.cm-completionInfo': { padding: '6px 10px', whiteSpace: 'pre-wrap' },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'inherit' },
  '.cm-diagnostic': { padding: '6px 12px', whiteSpace: 'pre-wrap' },
});

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'light-dark(#3a37aa, #b3b2e4)' },
  { tag: [tags.string, tags.content, tags.special(tags.string)], color: 'inherit' },
  { tag: tags.comment, color: 'light-dark(#5c636b, #a6adb4)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'light-dark(#5c636b, #a6adb4)' },
  { tag: [tags.bool, tags.number, tags.null, tags.keyword], color: 'light-dark(#7a3e00, #ffd8a8)' },
]);

export interface CodeOptions {
  label: string;
  describedBy?: string;
  nonce: string;
  /** Returns the completions for the text up to an offset. */
  words: (source: string, offset: number) => Completions | undefined;
  onChange: (source: string) => void;
}

/** A field for editing YAML, which completes words and marks problems. */
export class CodeView {
  private readonly view: EditorView;
  private readonly attributes = new Compartment();

  constructor(parent: HTMLElement, source: string, private readonly options: CodeOptions) {
    this.view = new EditorView({ parent, state: EditorState.create({ doc: source, extensions: this.extensions() }) });
  }

  private extensions(): Extension[] {
    const { nonce, words, onChange } = this.options;
    return [
      EditorView.cspNonce.of(nonce), lineNumbers(), lintGutter(), highlightActiveLineGutter(), drawSelection(), history(), yaml(), indentUnit.of('  '), EditorState.tabSize.of(2),
      syntaxHighlighting(colors), look, this.attributes.of([]),
      autocompletion({ override: [(context) => resultOf(context, words)], activateOnTyping: true, icons: false, tooltipClass: () => 'fermata-words' }),
      // The Tab key leaves the field, as it does everywhere.
      keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter')]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ];
  }

  /** Marks the text as valid or invalid for screen readers. */
  setInvalid(invalid: boolean): void {
    const { label, describedBy } = this.options;
    const attributes: Record<string, string> = { tabindex: '0', 'aria-label': label, spellcheck: 'false', autocapitalize: 'off', autocorrect: 'off' };
    if (describedBy) attributes['aria-describedby'] = describedBy;
    if (invalid) attributes['aria-invalid'] = 'true';
    this.view.dispatch({ effects: this.attributes.reconfigure(EditorView.contentAttributes.of(attributes)) });
  }

  /** Replaces the text, if it differs. */
  setText(source: string): void {
    const { doc } = this.view.state;
    if (doc.toString() !== source) this.view.dispatch({ changes: { from: 0, to: doc.length, insert: source } });
  }

  /** Marks the places of the problems of the current text. */
  mark(problems: readonly DefinitionProblem[]): void {
    this.view.dispatch(setDiagnostics(this.view.state, problems.map((problem) => this.diagnosticOf(problem))));
  }

  private diagnosticOf({ line, column, message, hint, warning }: DefinitionProblem): Diagnostic {
    const from = this.offsetOf(line, column);
    const word = this.view.state.wordAt(from);
    const end = this.view.state.doc.lineAt(from).to;
    return { from, to: Math.max(word?.to ?? Math.min(from + 1, end), from), severity: warning ? 'warning' : 'error', message: hint ? `${message}\n${hint}` : message };
  }

  private offsetOf(line: number, column: number): number {
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return Math.min(at.from + Math.max(column - 1, 0), at.to);
  }

  /** Moves the cursor to a place and scrolls it into view. */
  goTo(line: number, column: number): void {
    this.view.focus();
    this.view.dispatch({ selection: { anchor: this.offsetOf(line, column) }, effects: EditorView.scrollIntoView(this.offsetOf(line, column), { y: 'center' }) });
  }

  focus(): void {
    this.view.focus();
  }

  destroy(): void {
    this.view.destroy();
  }
}

function resultOf(context: CompletionContext, wordsOf: CodeOptions['words']): CompletionResult | null {
  const found = wordsOf(context.state.doc.toString(), context.pos);
  // If no word has begun and none is expected, completions are shown only on request.
  if (!found || (found.typed === '' && !context.explicit && !context.matchBefore(/(\.|:\s|\{\{\s)$/))) return null;
  return {
    from: context.pos - found.typed.length,
    options: found.words.map(({ label, apply, detail, about }) => ({ label, apply, detail, info: about })),
    validFor: /^[\w./-]*$/,
  };
}
