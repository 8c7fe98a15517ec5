import { compact, reply, seed, summary, switchModel } from './commands.ts'
import type { RequestRun } from './run-seed.ts'

/**
 * Runs that found a bug, by the bug, as the suite printed them. They are saved as code, because the run of a seed changes
 * with every new command. They are part of every run.
 */
export const regressionRuns: Readonly<Record<string, RequestRun>> = {
  'a call with a corrected tool name kept the signature of its original name': [
    'google/gemini-3-flash-preview',
    reply([
      { type: 'think', text: 'Well: ' },
      { type: 'call', tool: 'no such tool!', args: {} },
    ]),
  ],
  'arguments and text with a corrected unpaired surrogate kept their signature': [
    'google/gemini-3-pro-preview',
    reply([{ type: 'call', tool: 'look', args: { 'k\ud800': ['\ud800'] } }]),
    reply([{ type: 'say', text: 'half \ud83d' }]),
  ],
  'thinking with an unpaired surrogate was sent back, and every later request was refused': [
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
  'a summary with an unpaired surrogate could not be part of the next summary': [
    'openai-chat/gpt-5',
    reply([{ type: 'say', text: 'Go on.' }]),
    seed(Array.from({ length: 8 }, (_, index) => ({ role: 'user', content: `${index}` }) as const)),
    summary('\udc00'),
    compact(),
  ],
}
