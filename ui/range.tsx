import { RANGES, type Range } from './charts.tsx';

export function RangeChoice({ range, choose }: { readonly range: Range; readonly choose: (range: Range) => void }) {
  return (
    <fieldset class="range">
      <legend class="hidden">Time shown</legend>
      {RANGES.map((one) => (
        <label key={one.label}>
          <input type="radio" name="range" checked={one === range} onChange={() => choose(one)} /> {one.label}
        </label>
      ))}
    </fieldset>
  );
}
