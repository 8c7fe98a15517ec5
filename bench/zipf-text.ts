import { createDice } from '@holdfast/testkit'

const vocabulary = 40_000
/**
 * Zipf-Mandelbrot law, with parameters that give the word frequencies of English: the commonest word is 6 % of a text, the
 * commonest 100 are half of it, 1,000 are 74 %, 6,000 are 88 %.
 */
const exponent = 1.1
const shift = 1.5
const mostCommon =
  'the of and to in a is that for it as was with be by on not this are or from but you we have an at which they one can all there if will would more when has what so do no its out up about who get into than only other new some could these two may then first any my now such like over our even most after also did many before must through back where much your way well down should because each just those how too good very make world still own see work long both under never same another while last might great go old since against right come take use find want show here between state part place'.split(
    ' ',
  )
const syllables =
  'ba be bi bo ca ce co cu da de di do du fa fe fi fo ga ge go ha he hi ho ja jo ka ke ki la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa we wi za'.split(
    ' ',
  )
const endings = ['', '', '', 's', 'n', 'r', 't', 'd', 'ing', 'ed', 'er', 'ion', 'ly', 'ment', 'ness', 'able']

export type ZipfText = {
  /** Returns about `bytes` bytes of sentences, with some code identifiers and numbers. */
  text(bytes: number): string
  /** Returns a text of random length, as messages have: many short ones, few long ones, `meanBytes` on average. */
  textAbout(meanBytes: number): string
  /** Returns the word of that rank; 0 is the most common. */
  word(rank: number): string
}

/** Generates text with the word frequencies of English. The same seed gives the same text. */
export function createZipfText(seed: number): ZipfText {
  const dice = createDice(seed)
  const words = createVocabulary()
  const cumulative = new Float64Array(vocabulary)
  let sum = 0
  for (let rank = 0; rank < vocabulary; rank++) {
    sum += 1 / (rank + 1 + shift) ** exponent
    cumulative[rank] = sum
  }
  const chance = () => dice.below(2 ** 32) / 2 ** 32
  const draw = (): string => {
    const point = chance() * sum
    let low = 0
    let high = vocabulary - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? 0) < point) low = middle + 1
      else high = middle
    }
    return words[low] ?? ''
  }
  const piece = (): string => {
    const kind = dice.below(200)
    if (kind === 0) return `${draw()}_${draw()}`
    if (kind === 1) return `${draw()}${capital(draw())}()`
    if (kind === 2) return String(dice.below(100_000))
    return draw()
  }
  const makeText = (bytes: number): string => {
    let text = capital(draw())
    let sentence = 1
    while (text.length < bytes) {
      const ends = sentence > 5 && dice.chance(1, 10)
      text += ends ? `. ${capital(draw())}` : ` ${piece()}`
      sentence = ends ? 1 : sentence + 1
    }
    return `${text}.`
  }
  return {
    text: makeText,
    textAbout: (meanBytes) => makeText(Math.min(meanBytes * 8, -Math.log(1 - chance()) * meanBytes)),
    word: (rank) => words[rank] ?? '',
  }
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** Creates the vocabulary, the same for every seed. Rarer words are longer. */
function createVocabulary(): readonly string[] {
  const dice = createDice(1)
  const known = new Set(mostCommon)
  while (known.size < vocabulary) {
    let word = ''
    const length = 2 + dice.below(known.size < 2000 ? 2 : 3)
    for (let part = 0; part < length; part++) word += dice.pick(syllables)
    known.add(word + dice.pick(endings))
  }
  return [...known]
}
