import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isUsed, receivers, textOfTest } from './parity-calls.ts'
import { type Doors, openDoors } from './parity-doors.ts'
import { openReceiverTypes, type ReceiverTypes } from './parity-receivers.ts'
import { lookUp, readAncestorNames, readParityTable, whyNoProof } from './parity-table.ts'

const table = readParityTable()
const isNext = (shown: string) => shown === 'next'
const isByDesign = (shown: string) => shown.startsWith('by design: ')

const supported = table.filter(({ shown }) => !isNext(shown) && !isByDesign(shown))

/** Returns the names of a row that a program uses, the one that the row is about first. */
const usedNames = (cell: string) => lookUp(cell).filter(({ name }) => isUsed('', name) !== null)

/** Returns the tests that show a row: one for all its names, or one for each. */
const proofsOf = (shown: string) => [...shown.matchAll(/`([^`]+)`/g)].map(([, proof = '']) => proof)

describe('docs/parity.md', () => {
  let doors: Doors
  let sources: ReceiverTypes
  beforeAll(async () => {
    sources = openReceiverTypes(receivers)
    doors = await openDoors((name) => lookUp(`\`${name}\``)[0]?.isOfLibrary ?? false)
  })
  afterAll(async () => {
    sources.close()
    await doors.close()
  })

  it('has exactly one row for every type, field and function of the ancestors', () => {
    const rows = table.map(({ section, ancestor }) => `${section}: ${ancestor}`)
    expect(rows.toSorted()).toEqual([...readAncestorNames()].toSorted())
    expect(new Set(rows).size).toBe(rows.length)
    expect(rows.length).toBeGreaterThan(250)
  })

  it('says for every supported row which interface reaches it', () => {
    const wrong = table.filter(({ reached, shown, holdfast }) => {
      const isThere = !isNext(shown) && !isByDesign(shown)
      const isReached = /^(library|CLI|HTTP)(, (client|CLI|HTTP))*$/.test(reached)
      return isThere ? !isReached || holdfast === '–' : reached !== '–'
    })
    expect(wrong).toEqual([])
  })

  it('gives a reason for each row left out by design', () => {
    const reasons = table.flatMap(({ shown }) => (isByDesign(shown) ? [shown.slice('by design: '.length)] : []))
    expect(reasons.filter((reason) => reason.length < 15)).toEqual([])
  })

  it('names tests that exist, by file and title', () => {
    const proofs = table.flatMap(({ shown }) => (isNext(shown) || isByDesign(shown) ? [] : proofsOf(shown)))
    expect([...new Set(proofs)].flatMap((proof) => whyNoProof(proof) ?? [])).toEqual([])
    expect(proofs.length).toBeGreaterThan(100)
  })

  it('names methods, fields and events that exist', () => {
    const there = table.filter(({ shown }) => !isNext(shown))
    const missing = there.flatMap(({ ancestor, holdfast }) =>
      lookUp(holdfast).flatMap(({ name, exists }) => (exists ? [] : [`${ancestor}: ${name}`])),
    )
    expect(missing).toEqual([])
  })

  it('says library only for names a program can import', () => {
    const hidden = table
      .filter(({ reached }) => reached.startsWith('library'))
      .flatMap(({ ancestor, holdfast }) =>
        lookUp(holdfast).flatMap(({ name, isOfLibrary }) => (isOfLibrary ? [] : [`${ancestor}: ${name}`])),
      )
    expect(hidden).toEqual([])
  })

  it('names, in each supported row, a method or field of the product', () => {
    expect(supported.filter(({ holdfast }) => usedNames(holdfast).length === 0)).toEqual([])
    expect(doors.unknown).toEqual([])
  })

  it('says by which doors each method is really reached', () => {
    const wrong = supported.flatMap(({ ancestor, holdfast, reached }) => {
      const [first] = usedNames(holdfast)
      const real = first ? doors.of(first.name).join(', ') : ''
      return real === reached ? [] : [`${ancestor}: ${first?.name} is reached by ${real}, not by ${reached}`]
    })
    expect(wrong).toEqual([])
  })

  it('names, for each method and field, a test that calls or reads it', () => {
    const uncalled = supported.flatMap(({ ancestor, holdfast, shown }) => {
      const names = usedNames(holdfast).map(({ name }) => name)
      const proofs = proofsOf(shown)
      if (proofs.length > 1 && proofs.length !== names.length)
        return [`${ancestor}: ${proofs.length} tests for ${names.length} names`]
      return names.flatMap((name, index) => {
        const [path = '', title = ''] = (proofs.length > 1 ? proofs[index] : proofs[0])?.split(' › ') ?? []
        return isUsed(textOfTest(sources.read(path), title), name) ? [] : [`${ancestor}: ${name} in “${title}”`]
      })
    })
    expect(uncalled).toEqual([])
  })

  it('knows the object that a test calls by its type, not by the name of a variable', () => {
    const path = 'packages/holdfast/src/conversations/conversations.test.ts'
    const text = textOfTest(sources.read(path), 'rejects close after an unreported failure')
    expect(isUsed(text, 'Conversations.close')).toBe(true)
    expect(isUsed(text, 'holdfast.close()')).toBe(false)
    expect(isUsed(text, 'session.close()')).toBe(false)
  })

  it('marks no existing feature as next', () => {
    const done = table
      .filter(({ shown }) => isNext(shown))
      .flatMap(({ ancestor, holdfast }) => {
        const [first] = lookUp(holdfast)
        return first?.exists ? [`${ancestor}: ${first.name}`] : []
      })
    expect(done).toEqual([])
  })
})
