import type { ModelPart, SaidPart } from '@holdfast/core/ports'

export type Meta = NonNullable<SaidPart['meta']>
export type Kind = Extract<ModelPart, { readonly type: 'delta' }>['kind']
export type OpenPart = {
  readonly part: number
  readonly kind: Kind
  readonly id: string
  readonly tool?: string
  text: string
  meta?: Meta
}

/** The parts of an answer that have begun and are not whole, each with its number. */
export function createOpenParts() {
  const open = new Map<string, OpenPart>()
  let partCount = 0

  // A fragment whose start we never saw opens its part all the same: a sloppy service loses no words.
  function begin(kind: Kind, id: string, tool?: string): OpenPart {
    const key = `${kind} ${id}`
    const known = open.get(key)
    if (known !== undefined) return known
    const begun: OpenPart = { part: partCount++, kind, id, text: '', ...(tool !== undefined && { tool }) }
    open.set(key, begun)
    return begun
  }

  return {
    begin,
    find: (kind: Kind, id: string): OpenPart | undefined => open.get(`${kind} ${id}`),
    /** Nothing more is added to it. */
    end(kind: Kind, id: string, meta: Meta | undefined, tool?: string): OpenPart {
      const whole = begin(kind, id, tool)
      open.delete(`${kind} ${id}`)
      addMeta(whole, meta)
      return whole
    },
    all: (): readonly OpenPart[] => [...open.values()],
    /** The number of a part that never was open. */
    next: (): number => partCount++,
  }
}

export function grow(to: OpenPart, fragment: string, meta: Meta | undefined): readonly ModelPart[] {
  to.text += fragment
  addMeta(to, meta)
  if (fragment === '') return []
  return [
    { type: 'delta', part: to.part, kind: to.kind, text: fragment, ...(to.tool !== undefined && { tool: to.tool }) },
  ]
}

/** Metadata comes in pieces over the life of a part, by service; later pieces add to earlier ones. */
function addMeta(part: OpenPart, added: Meta | undefined): void {
  if (added === undefined) return
  const kept = part.meta ?? {}
  const merged = Object.entries(added).map(([service, values]) => [
    service,
    { ...asObject(kept[service]), ...asObject(values) },
  ])
  part.meta = { ...kept, ...Object.fromEntries(merged) }
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})
