import type { SaidPart } from '@holdfast/core/ports'

type Meta = NonNullable<SaidPart['meta']>

/** Beside what the service gave: no service has this name. */
const ownName = 'holdfast'

/** What we note with a part, for ourselves. */
export type ProviderNote = {
  /** The model that said it, where what a service gives with it is of use to that model only. */
  readonly model?: string
  /** What came with the answer and is not sent back. */
  readonly kept?: readonly unknown[]
}

export const withNote = (meta: Meta | undefined, note: ProviderNote): Meta | undefined =>
  Object.keys(note).length === 0 ? meta : { ...meta, [ownName]: note }

/** What the service gave, as it gave it, and whether the model that said it is this one. What nobody noted is taken for its own. */
export function readModel(
  meta: Meta | undefined,
  model: string,
): { readonly given: Meta | undefined; readonly isOwn: boolean } {
  if (meta === undefined) return { given: undefined, isOwn: true }
  const { [ownName]: noted, ...given } = meta
  const isOther = typeof noted === 'object' && noted !== null && 'model' in noted && noted.model !== model
  return { given: Object.keys(given).length > 0 ? given : undefined, isOwn: !isOther }
}
