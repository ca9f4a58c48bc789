import { useMediaQuery } from '@mantine/hooks';

/**
 * Reports whether there is room for two columns. The parts follow one another in the order of reading, so a phone has
 * an order of its own.
 */
export const useWide = () => useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
