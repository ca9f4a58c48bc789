import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { asProblem } from '@/api/problem';
import { useText } from '@/shell/text';
import { useRefusals } from '@/text/refusals';
import { Visible } from '@/text/Visible';

interface Said {
  code: string;
  message: string;
  hint?: string;
}

interface Worded {
  title: string;
  /** What the server said beside it, and what helps. */
  detail?: string;
  hint?: string;
  /** The language of the hint, where it is not the reader's. */
  hintLang?: string;
}

/** What was refused in the reader's language, as far as its code has words there; the rest is the server's. */
export function useWorded(): (said: Said) => Worded {
  const words = useRefusals();
  return ({ code, message, hint }) => {
    const known = words?.[code];
    if (!known) return { title: message, hint };
    return { title: known.what, detail: code === 'offline' ? undefined : message, hint: known.hint ?? hint, hintLang: known.hint ? undefined : 'en' };
  };
}

/** Below a title: the server's own words where the title is not theirs, and what helps. */
export function More({ worded: { detail, hint, hintLang } }: { worded: Worded }) {
  return (
    <>
      {detail && <Text size="sm" lang="en"><Visible text={detail} /></Text>}
      {hint && <Text size="sm" lang={hintLang}><Visible text={hint} /></Text>}
    </>
  );
}

/** Tells a refusal in passing. */
export function useTellRefusal(): (error: unknown) => void {
  const worded = useWorded();
  const text = useText();
  return (error) => {
    const said = worded(asProblem(error));
    notifications.show({
      title: said.title, message: <More worded={said} />, color: 'red', autoClose: 10_000,
      closeButtonProps: { 'aria-label': text.close },
    });
  };
}
