/** `npm run test:faults` looks at every one, `npm test` at some. */
const looksAtAll = process.env['FAULTS_ALL'] === '1'

/** One of so many, the first and the last among them, and those that are `always` looked at. */
export function sampled<Value>(
  all: readonly Value[],
  oneOf: number,
  always: (one: Value) => boolean = () => false,
): readonly Value[] {
  if (looksAtAll) return all
  return all.filter((one, index) => index % oneOf === 0 || index === all.length - 1 || always(one))
}
