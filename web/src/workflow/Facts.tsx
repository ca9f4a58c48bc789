import { Fragment } from 'react';
import classes from './Workflow.module.css';

/** Shows short facts on one line. The line breaks only between facts, so that a number stays with its unit. */
export function Facts({ all }: { all: readonly (string | false | undefined)[] }) {
  return all.filter(Boolean).map((fact, at) => <Fragment key={at}>{at > 0 && ' · '}<span className={classes.fact}>{fact}</span></Fragment>);
}
