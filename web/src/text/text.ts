import { catalogue } from './language';

export const useText = catalogue({
  en: { hidden: 'A character that cannot be seen', lookalike: 'A letter that looks like another one' },
  de: { hidden: 'Ein Zeichen, das man nicht sieht', lookalike: 'Ein Buchstabe, der wie ein anderer aussieht' },
});
