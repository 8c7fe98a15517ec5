import { escapeLine, type Fault, fault } from '@holdfast/protocol'

/** Returns the fault for a skill, a command or a kind of agent of a workspace that no person has trusted, or that has changed since. */
export function untrusted(kind: 'skill' | 'command' | 'agent', name: string): Fault {
  const what = kind === 'command' ? `/${escapeLine(name)}` : `The ${kind} ${escapeLine(name)}`
  const message = `${what} comes with the files of this workspace and is not trusted in its current form. holdfast trust shows it, and how to trust it.`
  return fault('untrusted_workspace', message, { kind, name })
}
