import { Suspense } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { Visible } from '@/text/Visible';
import classes from './Markdown.module.css';

const Rendered = lazyComponent(() => import('./Rendered').then((module) => module.default));
const hasMarks = /[*_`#[\]<>|~]|^\s*[-+\d]/m;

/** Shows the text of an agent or a person as Markdown. HTML in the text never becomes markup of the page. */
export function Markdown({ text }: { text: string }) {
  const plain = <div className={classes.plain}><Visible text={text} /></div>;
  if (!hasMarks.test(text)) return plain;
  return <Suspense fallback={plain}><Rendered text={text} /></Suspense>;
}
