import fc from 'fast-check'
import { accepted, nothingToDo, refused, type State } from '../state.ts'
import { at, messagesOn } from '../tree.ts'
import type { CommandTemplate, Family } from './family.ts'
import { serverCommands } from './servers.ts'

export const pin = (pinned: boolean | null): CommandTemplate => ({
  code: `pin(${pinned})`,
  command: () => ({ type: 'pinSession', ...(pinned !== null && { pinned }) }),
})
export const rename = (title: string): CommandTemplate => ({
  code: `rename('${title}')`,
  command: () => ({ type: 'rename', title }),
})
export const moveTo = (workdir: State['workdir']): CommandTemplate => ({
  code: `moveTo('${workdir}')`,
  command: () => ({ type: 'moveWorkdir', workdir }),
})

/** Returns the title: the given one, or the first line of the first prompt. */
export const titleOf = (state: State): string => state.title || (previewOf(state) ?? '')

/** Returns the first prompt that lists show: the remembered one, or the first of the visible line. */
export function previewOf(state: State): string | null {
  if (state.preview !== null) return state.preview
  for (const key of messagesOn(state.nodes, state)) {
    const { said } = at(state, key)
    if (said.who === 'user' && said.text.trim() !== '') return said.text.trim().split('\n')[0] ?? null
  }
  return null
}

/** Returns the session in another folder, with the trust of that folder. */
export const seenFrom = (state: State, from: State): State =>
  state.workdir === from.workdir
    ? { ...state, workspace: from.workspace, elsewhere: from.elsewhere }
    : { ...state, workspace: from.elsewhere, elsewhere: from.workspace }

/** Commands about the title, the pin, the folder and the servers of the session. */
export const metadataCommands: Family = {
  templates: [
    ...serverCommands.templates,
    fc.oneof(
      fc.constantFrom(null, true, false).map(pin),
      fc.constantFrom('Harbour', ' Harbour ', '').map(rename),
      fc.constantFrom<State['workdir'][]>('/work', '/moved').map(moveTo),
    ),
  ],
  rules: {
    ...serverCommands.rules,
    pinSession(state, { pinned = !state.isPinned }) {
      return pinned === state.isPinned ? nothingToDo(state) : accepted({ ...state, isPinned: pinned }, { pinned })
    },
    rename(state, { title: input }) {
      const title = input.trim()
      return title === state.title ? nothingToDo(state) : accepted({ ...state, title }, { title })
    },
    /** Only when idle. The trust, the boundaries and the skills of the former folder stay there. */
    moveWorkdir(state, { workdir }) {
      if (state.turn) return refused(state, 'turn_running')
      if (workdir === state.workdir) return nothingToDo(state)
      const own = state.trust.filter(({ scope }) => scope !== 'workspace')
      const there = workdir === '/moved' ? '/moved' : '/work'
      return accepted(
        { ...seenFrom({ ...state, workdir: there }, state), trust: own, boundaries: [], skills: [] },
        { workdir },
      )
    },
  },
}
