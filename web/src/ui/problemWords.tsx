import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { asProblem } from '@/api/problem';
import { useText } from '@/shell/text';
import { useRefusals } from '@/text/refusals';
import { Visible } from '@/text/Visible';

interface RawProblem {
  code: string;
  message: string;
  hint?: string;
}

interface ProblemWords {
  title: string;
  /** The server's own message, if the title is in other words, and a hint that helps. */
  detail?: string;
  hint?: string;
  /** The language of the hint, if it is not the reader's. */
  hintLang?: string;
}

/**
 * Returns a function that describes a refusal in the reader's language, if there is a text for its code. For all else
 * it returns the server's words.
 */
export function useProblemWords(): (said: RawProblem) => ProblemWords {
  const words = useRefusals();
  return ({ code, message, hint }) => {
    const known = words?.[code];
    if (!known) return { title: message, hint };
    return { title: known.what, detail: code === 'offline' ? undefined : message, hint: known.hint ?? hint, hintLang: known.hint ? undefined : 'en' };
  };
}

/** Shows what stands below a title: the server's own words if the title is not from the server, and a hint. */
export function ProblemHints({ words: { detail, hint, hintLang } }: { words: ProblemWords }) {
  return (
    <>
      {detail && <Text size="sm" lang="en"><Visible text={detail} /></Text>}
      {hint && <Text size="sm" lang={hintLang}><Visible text={hint} /></Text>}
    </>
  );
}

/** Returns a function that shows a refusal as a short notice. */
export function useTellRefusal(): (error: unknown) => void {
  const wordsOf = useProblemWords();
  const text = useText();
  return (error) => {
    const words = wordsOf(asProblem(error));
    notifications.show({
      title: words.title, message: <ProblemHints words={words} />, color: 'red', autoClose: 10_000,
      closeButtonProps: { 'aria-label': text.close },
    });
  };
}
