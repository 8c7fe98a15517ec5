import { clip, escapeLine } from '@holdfast/protocol'

const nameCharsMax = 64
/** Longer than any service accepts. */
const calledCharsMax = 128

/** Converts the tool names of a request to those that the service accepts, and back. */
export type ToolNames = {
  toWire(name: string): string
  fromWire(name: string): string
}

/** Changes only names that the service does not accept, and keeps them unique. Names of old calls may collide. */
export function createToolNames(offered: readonly string[], pattern: RegExp): ToolNames {
  const wire = new Map(offered.filter((name) => pattern.test(name)).map((name) => [name, name]))
  const taken = new Set(wire.values())
  for (const name of offered) {
    if (wire.has(name)) continue
    const spelled = makeUnique(spell(name, pattern), taken)
    wire.set(name, spelled)
    taken.add(spelled)
  }
  const back = new Map([...wire].map(([name, spelled]) => [spelled, name]))
  return {
    toWire: (name) => wire.get(name) ?? spell(name, pattern),
    fromWire: (name) => back.get(name) ?? (isToolName(name) ? name : escapeLine(clip(name, nameCharsMax))),
  }
}

/** Returns whether a name that a model calls could be the name of a tool. */
export const isToolName = (name: string): boolean => name.length <= calledCharsMax && escapeLine(name) === name

function spell(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name
  const letters = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, nameCharsMax)
  return pattern.test(letters) ? letters : `_${letters}`.slice(0, nameCharsMax)
}

function makeUnique(name: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const end = count === 1 ? '' : `_${count}`
    const spelled = `${name.slice(0, nameCharsMax - end.length)}${end}`
    if (!taken.has(spelled)) return spelled
  }
}
