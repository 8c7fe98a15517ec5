/** `npm run test:faults` tests every case, `npm test` a sample. */
const looksAtAll = process.env['FAULTS_ALL'] === '1'

/** Returns every n-th case, with the first, the last and the `always` cases. */
export function sampled<Value>(
  all: readonly Value[],
  oneOf: number,
  always: (one: Value) => boolean = () => false,
): readonly Value[] {
  if (looksAtAll) return all
  return all.filter((one, index) => index % oneOf === 0 || index === all.length - 1 || always(one))
}
