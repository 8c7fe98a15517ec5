import { clip, escapeLine } from '@holdfast/protocol'

const nameCharsMax = 64
/** No service takes a longer one. */
const calledCharsMax = 128

/** The names of the tools a request offers, as the service takes them and back again. */
export type ToolNames = {
  toWire(name: string): string
  fromWire(name: string): string
}

/**
 * A name the service takes is left alone; another is spelled so that it is taken, and no two alike. A name that is not
 * offered, of a call long past, need only be taken.
 */
export function createToolNames(offered: readonly string[], pattern: RegExp): ToolNames {
  const wire = new Map(offered.filter((name) => pattern.test(name)).map((name) => [name, name]))
  const taken = new Set(wire.values())
  for (const name of offered) {
    if (wire.has(name)) continue
    const spelled = firstFree(spell(name, pattern), taken)
    wire.set(name, spelled)
    taken.add(spelled)
  }
  const back = new Map([...wire].map(([name, spelled]) => [spelled, name]))
  return {
    toWire: (name) => wire.get(name) ?? spell(name, pattern),
    fromWire: (name) => back.get(name) ?? (isToolName(name) ? name : escapeLine(clip(name, nameCharsMax))),
  }
}

/** Whether what a model calls can be the name of a tool at all, whether or not there is one. */
export const isToolName = (name: string): boolean => name.length <= calledCharsMax && escapeLine(name) === name

function spell(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name
  const letters = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, nameCharsMax)
  return pattern.test(letters) ? letters : `_${letters}`.slice(0, nameCharsMax)
}

function firstFree(name: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const end = count === 1 ? '' : `_${count}`
    const spelled = `${name.slice(0, nameCharsMax - end.length)}${end}`
    if (!taken.has(spelled)) return spelled
  }
}
