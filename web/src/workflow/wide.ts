import { useMediaQuery } from '@mantine/hooks';

/** Whether there is room for two columns. Their parts follow one another as they are read, so a phone has an order of its own. */
export const useWide = () => useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
