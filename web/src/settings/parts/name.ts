/** Reports whether a text can be a name in addresses and on command lines. */
export const isName = (text: string) => /^[-_./0-9A-Za-z]{1,64}$/.test(text);
