import { usePreference } from '@/shell/preferences';
import { languages, type Language } from './languages';

/** A text, a function that returns a text for values, or several texts that belong together. */
type Text = string | ((...values: never[]) => string) | readonly string[] | { readonly [key: string]: Text };
type Translated<M> = { [K in keyof M]: M[K] extends string ? string : M[K] extends (...values: never[]) => string ? M[K] : Translated<M[K]> };

/** Returns one part of the texts of a catalogue, with the same check: a language that lacks a text does not compile. */
export const texts = <M extends Record<string, Text>>(part: { en: M; de: Translated<M> }): { en: M; de: Translated<M> } => part;

/**
 * Returns a hook that gives a part of the interface its own texts in the
 * reader's language. English defines which texts there are. A language that
 * lacks one does not compile.
 */
export function catalogue<M extends Record<string, Text>>(texts: { en: M; de: Translated<M> }): () => Translated<M> {
  // The English texts have literal types. Callers see the same type for all languages.
  const byLanguage: Record<Language, Translated<M>> = { ...texts, en: texts.en as Translated<M> };
  return function useText() {
    return byLanguage[useLanguage()];
  };
}

/** Returns the language that the reader chose, or else the browser's language if Fermata has texts for it. */
export function useLanguage(): Language {
  const [chosen] = usePreference('language');
  return chosen === 'system' ? systemLanguage() : chosen;
}

export function systemLanguage(): Language {
  const known = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag): tag is Language => tag in languages);
  return known ?? 'en';
}

/** Returns the form for a number: plural(n, {one: '1 question', other: `${n} questions`}). */
export function plural(n: number, forms: { one: string; other: string }): string {
  return n === 1 ? forms.one : forms.other;
}
