import type { Outcome, Output } from '../event/call.ts'

/** What a call came to, in the words its reader gets: a person here, the model in a request. */
export function outcomeOutput(outcome: Outcome): Output {
  switch (outcome.type) {
    case 'ok':
    case 'failed':
      return outcome.output
    case 'denied':
      return { text: `${outcome.code}: ${outcome.message}` }
    case 'interrupted': {
      const said = {
        aborted: 'stopped by a person',
        cancelled: 'cancelled before it ran',
        crashed: 'cut short by a crash',
        stopped: 'cut short when its process was stopped',
      }
      const note = `interrupted: ${said[outcome.code]}${outcome.code === 'cancelled' ? '' : '; what it did is not known'}`
      return outcome.output ? { ...outcome.output, text: `${outcome.output.text}\n${note}` } : { text: note }
    }
  }
}
