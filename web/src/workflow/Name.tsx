import { Fragment } from 'react';

/** Names of steps and tools, which break after the words of which they are made. */
export function Name({ text }: { text: string }) {
  return text.split(/(?<=_)/).map((part, at) => <Fragment key={at}>{at > 0 && <wbr />}{part}</Fragment>);
}
