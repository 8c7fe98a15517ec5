import type { SaidPart } from '@holdfast/core/ports'

type Meta = NonNullable<SaidPart['meta']>

/** Beside what the service gave: no service has this name. */
const ownName = 'holdfast'

/** Notes which model said a part, where what a service gives with it is of use to that model only. */
export const withModel = (meta: Meta | undefined, model: string): Meta => ({ ...meta, [ownName]: { model } })

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
