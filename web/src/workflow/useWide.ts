import { useMediaQuery } from '@mantine/hooks';

/**
 * Reports whether there is room for two columns. A narrow page has its parts in another order. The document must have
 * that order too, because screen readers follow it.
 */
export const useWide = () => useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
