import type { Root, RootContent } from 'hast';
import { useMemo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { codeOf, markedParts } from '@/text/visible';
import classes from './Markdown.module.css';

/** Marks invisible characters in the tree that is about to be rendered. */
function markHidden() {
  const visit = (node: Root | Extract<RootContent, { type: 'element' }>) => {
    node.children = (node.children as RootContent[]).flatMap((child): RootContent[] => {
      if (child.type === 'element') visit(child);
      if (child.type !== 'text') return [child];
      return markedParts(child.value).map((part): RootContent => {
        const text = { type: 'text' as const, value: part.mark === 'hidden' ? codeOf(part.text) : part.text };
        return part.mark ? { type: 'element', tagName: 'mark', properties: {}, children: [text] } : text;
      });
    });
  };
  return visit;
}

const components: Components = {
  // The page loads nothing from other sites, so a picture becomes a link to it.
  img: ({ src, alt }) => (typeof src === 'string' ? <a href={src} target="_blank" rel="noopener noreferrer nofollow">{`🖼 ${alt || src}`}</a> : <>{alt}</>),
  a: ({ href, children }) => <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>{children}</a>,
  // The page itself uses the first two levels of headings.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  table: ({ children }) => <div className={classes.scroll} tabIndex={0} role="group"><table>{children}</table></div>,
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  input: ({ checked }) => <span>{checked ? '☑' : '☐'}</span>,
};

export default function RenderedMarkdown({ text }: { text: string }) {
  const plugins = useMemo(() => [remarkGfm], []);
  const after = useMemo(() => [markHidden], []);
  return (
    <div className={classes.body}>
      <ReactMarkdown remarkPlugins={plugins} rehypePlugins={after} components={components}>{text}</ReactMarkdown>
    </div>
  );
}
