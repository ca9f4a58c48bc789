import { Button, Checkbox, CopyButton, Group, Text } from '@mantine/core';
import { memo, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useCommands } from '@/keys/useCommands';
import { Visible } from '@/text/Visible';
import type { Run } from './api';
import type { Piece } from './ansi';
import { LogReader, type Block } from './log';
import classes from './log.module.css';
import { usePageText } from './pageText';

/** Shows the output of a run as it is written. It follows the end until the reader scrolls up. */
export function RunLog({ run }: { run: Run }) {
  const text = usePageText();
  const [reader] = useState(() => new LogReader(run.id));
  const log = useSyncExternalStore(reader.listen, reader.current);
  const [all, setAll] = useState(false);
  const [wrap, setWrap] = useState(true);
  const { box, following, follow, onScroll } = useFollowing(log);
  useCommands([{ id: 'log-follow', title: text.followAgain, group: text.log, keys: ['f'], run: follow }]);
  return (
    <section aria-label={text.logOf(run.attempt)}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="md">
          <Checkbox size="sm" label={text.wrap} checked={wrap} onChange={(event) => setWrap(event.currentTarget.checked)} />
          <Checkbox
            size="sm" label={text.controls} checked={all}
            onChange={(event) => {
              setAll(event.currentTarget.checked);
              reader.showAll(event.currentTarget.checked);
            }}
          />
        </Group>
        <Group gap="xs">
          <Text size="sm" c="dimmed" role="status">{log.lost ? text.logLost : log.ended ? text.logEnded : following ? text.following : text.notFollowing}</Text>
          {!following && !log.ended && <Button size="compact-sm" onClick={follow}>{text.followAgain}</Button>}
          <CopyButton value={reader.text()}>{({ copied, copy }) => <Button size="compact-sm" variant="default" onClick={copy}>{copied ? text.copied : text.copyLog}</Button>}</CopyButton>
        </Group>
      </Group>
      <div ref={box} className={classes.log} data-wrap={wrap} role="log" aria-live="off" aria-label={text.logOf(run.attempt)} tabIndex={0} onScroll={onScroll}>
        {log.dropped > 0 && <p className={classes.dropped}>{text.dropped(log.dropped)}</p>}
        {log.blocks.map((block) => <LogBlock key={block.key} block={block} />)}
        {log.blocks.length === 0 && <p className={classes.dropped}>{text.noLog}</p>}
      </div>
    </section>
  );
}

const LogBlock = memo(function LogBlock({ block }: { block: Block }) {
  return <pre className={classes.block}>{block.pieces.map((piece, at) => <LogPiece key={at} piece={piece} />)}</pre>;
});

function LogPiece({ piece }: { piece: Piece }) {
  if (piece.mark) return <span className={classes.mark}>{piece.text}</span>;
  const looks = [
    piece.colour !== undefined && classes[`c${piece.colour}`], piece.bold && classes.bold, piece.dim && classes.dim, piece.italic && classes.italic, piece.underline && classes.underline,
  ].filter(Boolean);
  return looks.length > 0 ? <span className={looks.join(' ')}><Visible text={piece.text} /></span> : <Visible text={piece.text} />;
}

/** Keeps the end in sight until the reader scrolls away from it. */
function useFollowing(changed: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const [following, setFollowing] = useState(true);
  const toEnd = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (following) toEnd();
  }, [changed, following]);
  useEffect(() => {
    // Blocks get their true height only when they come into sight.
    const settle = requestAnimationFrame(() => {
      if (following) toEnd();
    });
    return () => cancelAnimationFrame(settle);
  }, [changed, following]);
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
    if (atEnd) setFollowing(true);
    else if (element.scrollTop < top.current) setFollowing(false);
    top.current = element.scrollTop;
  };
  return { box, following, follow: () => setFollowing(true), onScroll };
}
