import { usePreference } from '@/shell/preferences';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

/** A text, a function that makes one from values, or several texts that belong together. */
type Text = string | ((...values: never[]) => string) | readonly string[] | { readonly [key: string]: Text };
type Same<M> = { [K in keyof M]: M[K] extends string ? string : M[K] extends (...values: never[]) => string ? M[K] : Same<M[K]> };

/**
 * A part's own texts in every language. English says which texts there are;
 * a language that lacks one does not compile.
 */
export function catalogue<M extends Record<string, Text>>(texts: { en: M; de: Same<M> }): () => Same<M> {
  // English has its own texts as types; to a reader all languages are alike.
  const alike: Record<Language, Same<M>> = { ...texts, en: texts.en as Same<M> };
  return function useText() {
    return alike[useLanguage()];
  };
}

/** The language that the reader chose, else the browser's if there is one for it. */
export function useLanguage(): Language {
  const [chosen] = usePreference('language');
  return chosen === 'system' ? systemLanguage() : chosen;
}

export function systemLanguage(): Language {
  const known = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag): tag is Language => tag in languages);
  return known ?? 'en';
}

/** Picks the form for a number: one({one: '1 question', other: `${n} questions`}). */
export function plural(n: number, forms: { one: string; other: string }): string {
  return n === 1 ? forms.one : forms.other;
}
