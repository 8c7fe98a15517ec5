import fc from 'fast-check'
import { accepted, nothingToDo, refused, type State } from '../state.ts'
import type { CommandTemplate, Family } from './family.ts'

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

/** What the session is called: what someone named it, else the first line of its first prompt. */
export const titleOf = ({ title }: State): string => title || 'Begin.'

/** The same session as one finds it from a folder: what its folder trusts, and what the other one does. */
export const seenFrom = (state: State, from: State): State =>
  state.workdir === from.workdir
    ? { ...state, workspace: from.workspace, elsewhere: from.elsewhere }
    : { ...state, workspace: from.elsewhere, elsewhere: from.workspace }

/** How the session is kept: its name, its place in the list and on the disk. */
export const metadataCommands: Family = {
  templates: [
    fc.oneof(
      fc.constantFrom(null, true, false).map(pin),
      fc.constantFrom('Harbour', ' Harbour ', '').map(rename),
      fc.constantFrom<State['workdir'][]>('/work', '/moved').map(moveTo),
    ),
  ],
  rules: {
    pinSession(state, { pinned = !state.isPinned }) {
      return pinned === state.isPinned ? nothingToDo(state) : accepted({ ...state, isPinned: pinned }, { pinned })
    },
    rename(state, { title: given }) {
      const title = given.trim()
      return title === state.title ? nothingToDo(state) : accepted({ ...state, title }, { title })
    },
    /** Only at rest. What the former folder trusts stays there. */
    moveWorkdir(state, { workdir }) {
      if (state.turn) return refused(state, 'turn_running')
      if (workdir === state.workdir) return nothingToDo(state)
      const own = state.trust.filter(({ scope }) => scope !== 'workspace')
      const there = workdir === '/moved' ? '/moved' : '/work'
      return accepted({ ...seenFrom({ ...state, workdir: there }, state), trust: own }, { workdir })
    },
  },
}
