import fc from 'fast-check'
import { accepted, nothingToDo, refused } from '../state.ts'
import type { CommandTemplate, Family } from './family.ts'

export const setServer = (server: string, on: boolean): CommandTemplate => ({
  code: `setServer('${server}', ${on})`,
  command: () => ({ type: 'setServer', server, on }),
})
export const retryServer = (server: string): CommandTemplate => ({
  code: `retryServer('${server}')`,
  command: () => ({ type: 'retryServer', server }),
})

/** Commands about the servers that the session uses. There are none here, which does not matter for the switches. */
export const serverCommands: Family = {
  templates: [
    fc.tuple(fc.constantFrom('files', 'tracker'), fc.boolean()).map(([server, on]) => setServer(server, on)),
    fc.constantFrom('files', 'missing').map(retryServer),
  ],
  rules: {
    setServer(state, { server, on }) {
      if (state.serversOff.includes(server) !== on) return nothingToDo(state)
      return accepted({
        ...state,
        serversOff: on ? state.serversOff.filter((name) => name !== server) : [...state.serversOff, server],
      })
    },
    retryServer: (state, { server }) => (server === 'files' ? nothingToDo(state) : refused(state, 'not_found')),
  },
}
