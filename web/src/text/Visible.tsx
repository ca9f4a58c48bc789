import { memo, useMemo } from 'react';
import { useText } from './text';
import { codeOf, codesOf, markedParts } from './visible';
import classes from './Visible.module.css';

/** Shows a text and marks characters that are invisible or look like others. Use `strict` for commands and actions. */
export const Visible = memo(function Visible({ text, strict }: { text: string; strict?: boolean }) {
  const words = useText();
  const cut = useMemo(() => markedParts(text, strict), [text, strict]);
  return cut.map((part, at) =>
    part.mark ? (
      <mark key={at} className={classes[part.mark]} title={`${words[part.mark]}: ${codesOf(part.text)}`}>
        {part.mark === 'hidden' ? codesOf(part.text) : part.text}
        {part.mark === 'lookalike' && <span className={classes.code}>{codeOf(part.text)}</span>}
      </mark>
    ) : (
      part.text
    ),
  );
});
