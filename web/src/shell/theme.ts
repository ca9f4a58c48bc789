import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

const indigo: MantineColorsTuple = [
  '#eeeefb', '#dadaf2', '#b3b2e4', '#8a88d6', '#6866ca', '#5350c3', '#4845c0', '#3a37aa', '#333198', '#292786',
];

export const theme = createTheme({
  primaryColor: 'fermata',
  colors: { fermata: indigo },
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.25,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  focusRing: 'auto',
});

// Mantine's dimmed text and placeholders are too pale for WCAG AA on its own backgrounds.
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: { '--mantine-color-dimmed': '#5c636b', '--mantine-color-placeholder': '#6b7178', '--mantine-color-error': '#c02626', '--mantine-color-green-light-color': '#14532d', '--mantine-color-red-light-color': '#8f1414', '--mantine-color-orange-light-color': '#7a3300', '--mantine-color-yellow-light-color': '#6b4a00' },
  dark: { '--mantine-color-anchor': '#b3b2e4', '--mantine-color-dimmed': '#a6adb4', '--mantine-color-placeholder': '#989fa6', '--mantine-color-error': '#ff8787' },
});
