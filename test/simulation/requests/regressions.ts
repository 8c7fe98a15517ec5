import { compact, reply, seed, summary, switchModel } from './commands.ts'
import type { RequestRun } from './run-seed.ts'

/**
 * Stories that fail when a bug of former days comes back, as the suite printed them: what a seed stands for changes with
 * every command that is added, what is written out does not. They are lived through in every run.
 */
export const regressionRuns: Readonly<Record<string, RequestRun>> = {
  'a call by a name that had to be spelled otherwise kept the signature it had under its own': [
    'google/gemini-3-flash-preview',
    reply([
      { type: 'think', text: 'Well: ' },
      { type: 'call', tool: 'no such tool!', args: {} },
    ]),
  ],
  'so did arguments, and words, with half a character in them': [
    'google/gemini-3-pro-preview',
    reply([{ type: 'call', tool: 'look', args: { 'k\ud800': ['\ud800'] } }]),
    reply([{ type: 'say', text: 'half \ud83d' }]),
  ],
  'thinking with half a character in it was sent back, and every later request refused': [
    'openai/gpt-5',
    reply([
      { type: 'think', text: 'half \ud83d' },
      { type: 'say', text: 'Go on.' },
      { type: 'call', tool: 'nowhere', args: {} },
    ]),
    switchModel('google/gemini-3-pro-preview'),
    reply([
      { type: 'think', text: '\udc00' },
      { type: 'call', tool: 'nowhere', args: {} },
    ]),
  ],
  'a summary with half a character in it could never be taken into the next': [
    'openai-chat/gpt-5',
    reply([{ type: 'say', text: 'Go on.' }]),
    seed(Array.from({ length: 8 }, (_, index) => ({ role: 'user', content: `${index}` }) as const)),
    summary('\udc00'),
    compact(),
  ],
}
