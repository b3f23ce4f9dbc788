/**
 * A face as VRM 1.0, written here: a disc with eyes and a mouth that has the five shapes. It contains no art of others, so no licence applies.
 * Put your own .vrm in its place.
 */

const CORNERS = 48;
/** Metres. */
const MOUTH_REST = { width: 0.045, height: 0.0025 };
/** What each shape makes of the half width and half height of the mouth. */
const MOUTH_SHAPES = {
  aa: { width: 0.048, height: 0.042 },
  ih: { width: 0.05, height: 0.01 },
  ou: { width: 0.018, height: 0.016 },
  ee: { width: 0.056, height: 0.018 },
  oh: { width: 0.026, height: 0.03 },
};
const EYE = { width: 0.014, height: 0.018 };
const SKIN = [0.86, 0.63, 0.47, 1];
const INK = [0.05, 0.03, 0.03, 1];
const MOUTH_COLOR = [0.45, 0.02, 0.04, 1];

/** Bones that VRM asks for, with their parent and height. @type {[name: string, parent: string, y: number][]} */
const BONES = [
  ['hips', '', 0.9],
  ['spine', 'hips', 0.2],
  ['head', 'spine', 0.45],
  ...['left', 'right'].flatMap((side) =>
    [
      ['UpperLeg', 'hips', -0.05],
      ['LowerLeg', `${side}UpperLeg`, -0.4],
      ['Foot', `${side}LowerLeg`, -0.4],
      ['UpperArm', 'spine', 0.3],
      ['LowerArm', `${side}UpperArm`, 0],
      ['Hand', `${side}LowerArm`, 0],
    ].map(([bone, parent, y]) => /** @type {[string, string, number]} */ ([`${side}${bone}`, parent, y])),
  ),
];

/** @returns {ArrayBuffer} a binary glTF */
export function ownVrm() {
  const writer = new GltfWriter();
  const face = writer.disc('Face', SKIN, { width: 0.12, height: 0.14 }, 0);
  const mouth = writer.disc('Lips', MOUTH_COLOR, MOUTH_REST, 0.002, Object.values(MOUTH_SHAPES));
  const eye = writer.disc('Eye', INK, EYE, 0.002, [{ width: EYE.width, height: 0.002 }]);
  const parts = [
    { name: 'Face', mesh: face, translation: [0, 0.1, 0] },
    { name: 'Lips', mesh: mouth, translation: [0, 0.04, 0] },
    { name: 'LeftEye', mesh: eye, translation: [0.045, 0.13, 0] },
    { name: 'RightEye', mesh: eye, translation: [-0.045, 0.13, 0] },
  ];
  const nodes = BONES.map(([name, , y]) => ({ name, translation: [0, y, 0], children: /** @type {number[]} */ ([]) }));
  const indexOf = (/** @type {string} */ bone) => BONES.findIndex(([name]) => name === bone);
  for (const [index, [, parent]] of BONES.entries()) nodes[indexOf(parent)]?.children.push(index);
  nodes[indexOf('head')]?.children.push(...parts.map((_, index) => nodes.length + index));
  const mouthNode = nodes.length + 1;
  const shapes = Object.keys(MOUTH_SHAPES).map((name, index) => [name, [{ node: mouthNode, index, weight: 1 }]]);
  const blink = [mouthNode + 1, mouthNode + 2].map((node) => ({ node, index: 0, weight: 1 }));
  const presets = [...shapes, ['blink', blink]].map(([name, morphTargetBinds]) => [name, { morphTargetBinds }]);
  const vrm = {
    specVersion: '1.0',
    meta: { name: 'Dramatis sample', authors: ['Dramatis'], licenseUrl: 'https://vrm.dev/licenses/1.0/' },
    humanoid: { humanBones: Object.fromEntries(BONES.map(([name], index) => [name, { node: index }])) },
    expressions: { preset: Object.fromEntries(presets) },
  };
  return writer.write({
    scenes: [{ nodes: [0] }],
    scene: 0,
    nodes: [...nodes.map(({ children, ...node }) => (children.length === 0 ? node : { ...node, children })), ...parts],
    extensionsUsed: ['VRMC_vrm', 'KHR_materials_unlit'],
    extensions: { VRMC_vrm: vrm },
  });
}

/** Collects meshes and their numbers. */
class GltfWriter {
  /** @type {Uint8Array[]} */
  #chunks = [];
  #bytes = 0;
  /** @type {object[]} */
  #views = [];
  /** @type {object[]} */
  #accessors = [];
  /** @type {object[]} */
  #materials = [];
  /** @type {object[]} */
  #meshes = [];

  /**
   * A flat ellipse of one colour, looking along +z; each other size becomes a morph target.
   *
   * @param {string} name
   * @param {readonly number[]} color
   * @param {{ width: number, height: number }} size
   * @param {number} z
   * @param {{ width: number, height: number }[]} [others]
   * @returns {number} index of the mesh
   */
  disc(name, color, size, z, others = []) {
    const rim = Array.from({ length: CORNERS }, (_, corner) => (2 * Math.PI * corner) / CORNERS);
    const points = (/** @type {{ width: number, height: number }} */ { width, height }) => [
      [0, 0, 0],
      ...rim.map((angle) => [width * Math.cos(angle), height * Math.sin(angle), 0]),
    ];
    const base = points(size);
    const targets = others.map((other) => {
      const moved = points(other).map((point, index) => point.map((value, axis) => value - (base[index]?.[axis] ?? 0)));
      return { POSITION: this.#vectors(moved) };
    });
    const indices = rim.flatMap((_, corner) => [0, corner + 1, ((corner + 1) % CORNERS) + 1]);
    this.#materials.push({
      name,
      pbrMetallicRoughness: { baseColorFactor: color, metallicFactor: 0 },
      doubleSided: true,
      extensions: { KHR_materials_unlit: {} },
    });
    const position = this.#vectors(base.map(([x = 0, y = 0]) => [x, y, z]));
    const primitive = {
      attributes: { POSITION: position },
      indices: this.#indices(indices),
      material: this.#materials.length - 1,
    };
    this.#meshes.push({ name, primitives: [targets.length === 0 ? primitive : { ...primitive, targets }] });
    return this.#meshes.length - 1;
  }

  /** @param {object} rest */
  write(rest) {
    const json = {
      asset: { version: '2.0' },
      buffers: [{ byteLength: this.#bytes }],
      bufferViews: this.#views,
      accessors: this.#accessors,
      materials: this.#materials,
      meshes: this.#meshes,
      ...rest,
    };
    const text = new TextEncoder().encode(JSON.stringify(json));
    const padded = new Uint8Array(Math.ceil(text.length / 4) * 4).fill(0x20);
    padded.set(text);
    const file = new Uint8Array(12 + 8 + padded.length + 8 + this.#bytes);
    const view = new DataView(file.buffer);
    const header = [0x46_54_6c_67, 2, file.length, padded.length, 0x4e_4f_53_4a];
    for (const [index, word] of header.entries()) view.setUint32(4 * index, word, true);
    file.set(padded, 20);
    view.setUint32(20 + padded.length, this.#bytes, true);
    view.setUint32(24 + padded.length, 0x00_4e_49_42, true);
    let at = 28 + padded.length;
    for (const chunk of this.#chunks) {
      file.set(chunk, at);
      at += chunk.length;
    }
    return file.buffer;
  }

  /** @param {number[][]} points */
  #vectors(points) {
    const axes = [0, 1, 2].map((axis) => points.map((point) => point[axis] ?? 0));
    const bounds = { min: axes.map((values) => Math.min(...values)), max: axes.map((values) => Math.max(...values)) };
    return this.#accessor(new Float32Array(points.flat()), {
      componentType: 5126,
      type: 'VEC3',
      count: points.length,
      ...bounds,
    });
  }

  /** @param {number[]} indices */
  #indices(indices) {
    return this.#accessor(new Uint16Array(indices), { componentType: 5123, type: 'SCALAR', count: indices.length });
  }

  /**
   * @param {Float32Array | Uint16Array} values an even number of 16-bit ones, so that all stay aligned to 4 bytes
   * @param {object} facts
   */
  #accessor(values, facts) {
    const bytes = new Uint8Array(values.buffer);
    this.#views.push({ buffer: 0, byteOffset: this.#bytes, byteLength: bytes.length });
    this.#accessors.push({ bufferView: this.#views.length - 1, ...facts });
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    return this.#accessors.length - 1;
  }
}
