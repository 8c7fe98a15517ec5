import { commandTypes } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { allMet, timesMet } from './coverage.ts'
import { knownCommands } from './model/family/predict-outcome.ts'
import { runMoves, runSessionModelSeed } from './model/run-seed.ts'
import { regressionRuns } from './regressions.ts'
import { batchesOf, isOneSeed, runs, runUntilMet } from './runs.ts'

describe('a session, compared with a simple model', () => {
  it.each(Object.entries(regressionRuns))('does not repeat a fixed bug: %s', async (_, moves) => {
    await runMoves(moves)
  })

  it.each(batchesOf(runs.moves))('equals the model after every move (SEED=$first and the next)', async ({ seeds }) => {
    for (const seed of seeds) await runSessionModelSeed(seed)
  })
})

describe('session model', () => {
  it('has a rule for every command', () => {
    expect(knownCommands.toSorted()).toEqual(commandTypes.toSorted())
  })

  it.skipIf(isOneSeed)('reaches every listed outcome', async () => {
    const wanted = [
      ...commandTypes.map((type) => `${type}: accepted`),
      ...commandTypes.flatMap((type) => (type === 'claimDriver' ? [] : `${type}: not_driver`)),
      ...['claimDriver: driver_taken', 'claimDriver: not_subscribed', 'handOver: not_subscribed'],
      ...['no_pending_approval', 'approval_not_found', 'already_decided'].map((code) => `respondToApproval: ${code}`),
      ...['continue: turn_running', 'continue: nothing_to_continue'],
      'stopBackgroundShell: not_found',
      ...['reorderQueue: bad_request', 'removeQueueEntry: queue_entry_not_found', 'sendPrompt: empty_prompt'],
      ...['queueFollowUp: queue_full', 'together', 'unload', 'crash: killed', 'crash: paused'],
      ...['crash over a command: before', 'crash over a command: after'],
      ...['branchAt', 'rewind'].flatMap((type) => [`${type}: turn_not_found`, `${type}: turn_running`]),
      ...[
        'switchBranch: branch_not_found',
        'fork: turn_not_found',
        'setHistory: bad_request',
        'setModel: unknown_model',
        'setThinkingLevel: unknown_level',
      ],
      'moveWorkdir: turn_running',
      ...['togglePin: message_not_found', 'togglePin: bad_request', 'toggleToolCollapse: message_not_found'],
      ...['compact: pending', 'compact: turn_running', 'compact: nothing_to_compact', 'undoCompaction: turn_running'],
      ...['compact', 'summarize'].flatMap((kind) => [`${kind}, written: accepted`, `${kind}, failed: summary_failed`]),
      ...['context: a summary', 'context: a quoted pin', 'visit: the first', 'visit: again', 'visit: a fork of a fork'],
      ...['asked again', 'another answers', 'in mid-sentence', 'given up'].map((how) => `overload: ${how}`),
      ...['a turn', 'a dead process', 'a paused process'].flatMap((of) => [
        `late: answer of ${of}`,
        `late: call of ${of}`,
      ]),
    ]
    const missing = () => wanted.filter((what) => timesMet(what) === 0)
    const never = await runUntilMet(runs.moves + 1, missing, runSessionModelSeed)
    expect(never, `of these:\n${allMet().join('\n')}`).toEqual([])
  })
})
