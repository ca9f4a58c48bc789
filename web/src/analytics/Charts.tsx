import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { noValue, timeOf, type Figures, type Step } from './figures';
import { useText } from './text';

const noAnimation = { isAnimationActive: false } as const;
// The tables give the same figures to screen readers, so the charts need no keyboard access of their own.
const noKeyboard = { accessibilityLayer: false } as const;

/** Mantine takes the side of the legend, and its margin, from this name. */
const legendAtBottom = { verticalAlign: 'bottom' } as const;

/** Shows how questions ended, as stacked bars. */
export function Outcomes({ rows, sideways }: { rows: { label: string; figures: Figures }[]; sideways?: boolean }) {
  const text = useText();
  const series = [
    { name: 'answered', label: text.answered, color: 'fermata.5' },
    { name: 'by_rule', label: text.byRule, color: 'teal.6' },
    { name: 'timed_out', label: text.timedOut, color: 'orange.6' },
    { name: 'cancelled', label: text.withdrawn, color: 'gray.5' },
    { name: 'pending', label: text.open, color: 'yellow.5' },
  ];
  return (
    <BarChart
      h={sideways ? Math.min(420, 80 + rows.length * 44) : 260} type="stacked" withLegend orientation={sideways ? 'vertical' : 'horizontal'} dataKey="label"
      data={rows.map(({ label, figures }) => ({ label, ...figures }))} series={series} barProps={{ ...noAnimation, maxBarSize: 44 }} barChartProps={noKeyboard} gridAxis={sideways ? 'y' : 'x'}
      yAxisProps={sideways ? { width: 130 } : { allowDecimals: false, width: 40 }} xAxisProps={sideways ? { allowDecimals: false } : { minTickGap: 20 }}
      legendProps={legendAtBottom}
    />
  );
}

/** Shows how long answers took, as lines over the steps of the period. */
export function AnswerTimes({ steps, label }: { steps: Step[]; label: (step: Step) => string }) {
  const text = useText();
  return (
    <LineChart
      h={240} withLegend dataKey="label" connectNulls curveType="monotone" strokeWidth={2}
      data={steps.map((step) => ({ label: label(step), median: step.time_to_answer.median_seconds, p90: step.time_to_answer.p90_seconds }))}
      series={[{ name: 'median', label: text.medianShort, color: 'fermata.5' }, { name: 'p90', label: text.p90Short, color: 'orange.6' }]}
      lineProps={noAnimation} lineChartProps={noKeyboard} xAxisProps={{ minTickGap: 20 }} yAxisProps={{ width: 76 }} valueFormatter={(seconds) => (Number.isFinite(seconds) ? timeOf(seconds) : noValue)}
      legendProps={legendAtBottom}
    />
  );
}
