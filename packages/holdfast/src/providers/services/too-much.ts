/** More came than anybody could use: the call is given up before it takes the memory of all the others. */
export class TooMuchSaid extends Error {
  override readonly name = 'TooMuchSaid'

  constructor(what: 'event' | 'answer', max: number, unit: 'bytes' | 'characters') {
    super(`one ${what} is longer than ${max} ${unit}`)
  }
}
