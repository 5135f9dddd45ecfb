// Fitted coefficients of the vector mathematics, lowest power first. Written by tools/fit/fit_vecmath.py,
// which states what each polynomial approximates; do not edit by hand. The number above each name is the
// largest weighted error of the fit (relative to the function's value) without the errors of evaluation.
#pragma once

namespace jumar::emit::cpu::coeffs {

// 3.20e-09
inline constexpr double kExpF32[] = {
    0x1.fffffc0000000p-2, 0x1.55548c0000000p-3,  0x1.55585c0000000p-5,
    0x1.123d340000000p-7, 0x1.6aaf900000000p-10,
};

// 5.99e-18
inline constexpr double kExpF64[] = {
    0x1.000000000000ap-1,  0x1.55555555554ffp-3,  0x1.55555555505efp-5,  0x1.1111111125f09p-7,
    0x1.6c16c184bd6a8p-10, 0x1.a01a0136bd965p-13, 0x1.a01998724938bp-16, 0x1.71df08a412bf5p-19,
    0x1.28aefe58e24f7p-22, 0x1.ada8c08b6f5abp-26,
};

// 2.26e-09
inline constexpr double kExpm1F32[] = {
    0x1.0000000000000p-1, 0x1.5555540000000p-3,  0x1.5554b00000000p-5,
    0x1.11118a0000000p-7, 0x1.6d72b80000000p-10, 0x1.a0333e0000000p-13,
};

// 1.03e-18
inline constexpr double kExpm1F64[] = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.555555555553ep-5,  0x1.111111110f69fp-7,
    0x1.6c16c16c1f138p-10, 0x1.a01a01afee9e1p-13, 0x1.a01a017ba9656p-16, 0x1.71ddf833f11a4p-19,
    0x1.27e53629fc6f7p-22, 0x1.af5f034f42aebp-26, 0x1.1ee8eda960ecbp-29,
};

// 1.26e-08
inline constexpr double kExp2F32[] = {
    0x1.62e4300000000p-1, 0x1.ebfb940000000p-3,  0x1.c6af9e0000000p-5,
    0x1.3b68300000000p-7, 0x1.5ef4700000000p-10, 0x1.1775020000000p-13,
};

// 8.06e-18
inline constexpr double kExp2F64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5b3p-3,  0x1.c6b08d704a26fp-5,  0x1.3b2ab6fb9dab7p-7,
    0x1.5d87fe78458aep-10, 0x1.430913167e442p-13, 0x1.ffcbfe6643b40p-17, 0x1.62bfb4a573ce6p-20,
    0x1.b52081625babep-24, 0x1.e63b6e464a600p-28, 0x1.f0ed02e322ba9p-32,
};

// 4.66e-11
inline constexpr double kExp2ShortF64[] = {
    0x1.62e42ff0e1990p-1,  0x1.ebfbe0778924bp-3,  0x1.c6b08ac056567p-5,  0x1.3b29f39d298e5p-7,
    0x1.5d8a8612f1ba3p-10, 0x1.445c832ccb330p-13, 0x1.fde5e5b817ecdp-17,
};

// 6.35e-09
inline constexpr double kLogF32[] = {
    0x1.5555540000000p-2, -0x1.0002280000000p-2, 0x1.99a0380000000p-3, -0x1.54721a0000000p-3,
    0x1.22d5760000000p-3, -0x1.0d81860000000p-3, 0x1.05780a0000000p-3, -0x1.390d440000000p-4,
};

// 1.25e-18
inline constexpr double kLogF64[] = {
    0x1.5555555555593p-1, 0x1.999999997f9f4p-2, 0x1.249249422abd6p-2, 0x1.c71c51d744f7bp-3,
    0x1.746649d2d7ed4p-3, 0x1.39a0915e016f6p-3, 0x1.2f11af4ad2aebp-3,
};

// 4.81e-12
inline constexpr double kLogShortF64[] = {
    0x1.555554fd41ee5p-1,
    0x1.999a7b39f9a34p-2,
    0x1.2438a90e0e44bp-2,
    0x1.e2fdb56b8cfd6p-3,
};

// 7.68e-23
inline constexpr double kLogPairF64[] = {
    0x1.9999999999996p-3, 0x1.2492492492f56p-3, 0x1.c71c71c59594ap-4, 0x1.745d1829f0197p-4,
    0x1.3b136499ca16bp-4, 0x1.11207713ef0e3p-4, 0x1.de3c17710d94bp-5, 0x1.ead19eb682b66p-5,
};

// 8.97e-10
inline constexpr double kErfSmallF32[] = {
    0x1.06eba80000000p-3, -0x1.8127400000000p-2,  0x1.ce2d640000000p-4,  -0x1.b8011a0000000p-6,
    0x1.544a1a0000000p-8, -0x1.a60a2e0000000p-11, 0x1.4f67600000000p-14,
};

// 1.36e-17
inline constexpr double kErfSmallF64[] = {
    0x1.06eba8214db68p-3,  -0x1.812746b03799dp-2,  0x1.ce2f21a03f8b5p-4,  -0x1.b82ce311a9574p-6,
    0x1.565bcceed204ep-8,  -0x1.c02daeb53ee5dp-11, 0x1.f9a2967c8fddbp-14, -0x1.f4c82ad1f17b4p-17,
    0x1.b96b25d55e931p-20, -0x1.5b8b0ad294155p-23, 0x1.d3d2c7c46138ep-27, -0x1.a219bb63c0cc1p-31,
};

// 7.41e-10
inline constexpr double kErfLargeF32[] = {
    -0x1.0778e60000000p-3, -0x1.4532840000000p-1, -0x1.b325e60000000p-4,  0x1.8552aa0000000p-6,
    -0x1.dd706c0000000p-9, 0x1.527fb20000000p-12, -0x1.78d7ae0000000p-17,
};

// 4.28e-09
inline constexpr double kErfcF32[] = {
    0x1.3d1ae00000000p+0,  -0x1.1f47940000000p-3, 0x1.2b8e3c0000000p-12, 0x1.603cd60000000p-4,
    -0x1.c4ce580000000p-4, 0x1.76ea820000000p-4,  -0x1.cdfb120000000p-5, 0x1.aa24fa0000000p-6,
    -0x1.150f3c0000000p-7, 0x1.29dd8e0000000p-10, 0x1.ac5e8a0000000p-11,
};

// 8.45e-18
inline constexpr double kErfcF64[] = {
    0x1.3c81b093179a6p+0,  -0x1.1f09a95e0eccap-3,  0x1.b9a26d9d85e21p-8,   0x1.420b9cb622df2p-4,
    -0x1.b6277b4006238p-4, 0x1.7c8cd4b588af6p-4,   -0x1.f230e068e3fa7p-5,  0x1.f5d9e4418f6cep-6,
    -0x1.7229b0ef34be3p-7, 0x1.43795640f9d0ap-9,   0x1.ce26940944ff5p-14,  -0x1.3b42e40588537p-12,
    0x1.523eeed38ae7ap-14, 0x1.e248f5930a695p-17,  -0x1.c3d505ca839edp-17, 0x1.7e607abc0709dp-21,
    0x1.d405221be5dbap-20, -0x1.60551514ef603p-22, -0x1.e1c3c9cef3d6bp-23, 0x1.1a9ee83f1b48bp-24,
    0x1.fc157e9b4ebb6p-26, -0x1.5e0c312681c71p-27, -0x1.9af462ea26625p-29, 0x1.0b3f0b9187935p-30,
};

// 4.16e-09
inline constexpr double kSinF32[] = {
    -0x1.5555440000000p-3,
    0x1.1106c60000000p-7,
    -0x1.991c240000000p-13,
};

// 3.85e-18
inline constexpr double kSinF64[] = {
    -0x1.5555555555548p-3, 0x1.111111110f70fp-7,   -0x1.a01a019be2a45p-13,
    0x1.71de354e2a1e2p-19, -0x1.ae5e453ba7c9ep-26, 0x1.5d8954c68e3d4p-33,
};

// 1.24e-10
inline constexpr double kCosF32[] = {
    0x1.55554a0000000p-5,
    -0x1.6c0c220000000p-10,
    0x1.99e5240000000p-16,
};

// 6.06e-20
inline constexpr double kCosF64[] = {
    0x1.555555555554ap-5,   -0x1.6c16c16c14e00p-10, 0x1.a01a019c5c37fp-16,
    -0x1.27e4f7cd2fd1dp-22, 0x1.1ee9c333c9adep-29,  -0x1.8f99ca6a43863p-37,
};

// 7.01e-10
inline constexpr double kAtanF32[] = {
    -0x1.55554a0000000p-2, 0x1.9991e00000000p-3,  -0x1.23b9640000000p-3,
    0x1.b21fb80000000p-4,  -0x1.f2ca0e0000000p-5,
};

// 1.31e-18
inline constexpr double kAtanF64[] = {
    -0x1.555555555553cp-2, 0x1.999999999564cp-3, -0x1.24924922a054ap-3, 0x1.c71c70e0fda1cp-4,
    -0x1.745cf84a4c143p-4, 0x1.3b110ee65c774p-4, -0x1.10eb435f2df7ep-4, 0x1.df08984f742cfp-5,
    -0x1.9cb44ce71e4d4p-5, 0x1.3787a5d13ea17p-5, -0x1.24be0e7069d99p-6,
};

// 4.87e-09
inline constexpr double kAsinF32[] = {
    0x1.5555c80000000p-3, 0x1.3301fc0000000p-4, 0x1.747d040000000p-5,
    0x1.8c2db20000000p-6, 0x1.596d220000000p-5,
};

// 1.49e-17
inline constexpr double kAsinF64[] = {
    0x1.555555555538ep-3, 0x1.333333336ec3cp-4, 0x1.6db6db424b9bep-5,  0x1.f1c72c48eb48fp-6,
    0x1.6e89f2b08aa49p-6, 0x1.1c6bfa0fd6df8p-6, 0x1.c6fbd02a6c289p-7,  0x1.8ed019f42b07fp-7,
    0x1.ab5b168d56bd2p-8, 0x1.404608722852bp-6, -0x1.0a558caa446e7p-6, 0x1.059aff539d8d9p-5,
};

// 3.05e-10
inline constexpr double kSinhF32[] = {
    0x1.5555560000000p-3,
    0x1.1110e00000000p-7,
    0x1.a022b60000000p-13,
    0x1.756df80000000p-19,
};

// 2.53e-19
inline constexpr double kSinhF64[] = {
    0x1.5555555555556p-3,  0x1.111111111101ep-7,  0x1.a01a01a03726bp-13, 0x1.71de3a3b068b9p-19,
    0x1.ae646ff545fafp-26, 0x1.6116f48262f5cp-33, 0x1.b5c8a269684b3p-41,
};

// 2.80e-09
inline constexpr double kTanhF32[] = {
    -0x1.55553e0000000p-2, 0x1.1109be0000000p-3,  -0x1.b89aba0000000p-5,
    0x1.54c3c40000000p-6,  -0x1.82878e0000000p-8,
};

// 1.41e-19
inline constexpr double kTanhF64[] = {
    -0x1.5555555555554p-2,  0x1.1111111110f00p-3,  -0x1.ba1ba1b9f898fp-5,  0x1.664f487983120p-6,
    -0x1.226e33f1740a3p-7,  0x1.d6d389287fd79p-9,  -0x1.7d9eae0c0120fp-10, 0x1.3521c70926866p-11,
    -0x1.f219b6436c39ap-13, 0x1.83ed6bee48bfbp-14, -0x1.058a3c97a11b7p-15, 0x1.b4693cc5424efp-18,
};

// 4.80e-17
inline constexpr double kErfinvLowF64[] = {
    0x1.a755e7c99ae86p+0,   0x1.ebd80d9b13df7p-3,   -0x1.8b6c33114ee58p-8,  -0x1.8457694834208p-11,
    0x1.879c2a20d7901p-13,  -0x1.d1d1f7cafbe4fp-17, -0x1.6e8a53eeec8ccp-20, 0x1.c6b4f8ad0e916p-22,
    -0x1.f36ce519a497bp-26, -0x1.1a9eb68a0e28cp-28, 0x1.20f4e9db8aadfp-30,  -0x1.dc3deb5c45c57p-35,
    -0x1.c895d8117c995p-37, 0x1.7230f6c78bd6dp-39,  -0x1.6d9410178c3a9p-44, -0x1.6837b884e8c9dp-45,
    0x1.db3dcf02c3523p-48,  -0x1.8898aaed55d0ap-55, -0x1.2bf5fdd19d8e9p-53, 0x1.224985c9165d1p-56,
    0x1.526a70b7f594ap-60,  -0x1.a4e9a126dc37bp-62, -0x1.3ddeaacc74626p-70, 0x1.fb30745867286p-69,
};

// 1.57e-16
inline constexpr double kErfinvMiddleF64[] = {
    0x1.8abcc380d5a47p+1,   0x1.0158a6d641d3ap+0,   0x1.5ffcfe5b7a1d0p-8,   -0x1.ebadabb89d19ap-9,
    0x1.468eeca3f1133p-9,   -0x1.ba924130e3caep-10, 0x1.f3cc5608953c3p-11,  -0x1.7448a8f4855e5p-12,
    0x1.932c6dd5ac339p-16,  0x1.1e68545b74052p-14,  -0x1.8cee186085f2ep-15, 0x1.a2995864c4865p-17,
    0x1.882fb4d531e65p-19,  -0x1.0d5b4458c3886p-18, 0x1.940e440998943p-20,  0x1.371c8f6581b76p-26,
    -0x1.29f73cd520feep-22, 0x1.86014e2baad24p-24,  0x1.ad20b4cecd1c0p-29,
};

// 1.47e-16
inline constexpr double kErfinvHighF64[] = {
    0x1.3664ddd1ad7fbp+2,   0x1.02a30d1fba104p+0,   -0x1.22ea5df0411cfp-13, -0x1.c2f36a9e63c74p-13,
    0x1.3ebf4eb04307cp-14,  -0x1.4a3491932adddp-16, 0x1.2fbd2988dce86p-18,  -0x1.0a8fb542015d7p-20,
    0x1.ebc8fecc763d2p-23,  -0x1.225003495dc09p-24, 0x1.f4baeb519c45bp-26,  -0x1.04d7d89b4ddedp-26,
    0x1.05c45826454a6p-27,  -0x1.e7d78518a0b93p-29, 0x1.9dd10134a063cp-30,  -0x1.afdad6a6e90dap-32,
    -0x1.d0d7ae121d163p-36, 0x1.1c88cf162b07dp-35,
};

// 2.40e-17
inline constexpr double kLgammaNearTwoF64[] = {
    0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,  -0x1.13e001a55760ap-4,  0x1.51322ac7d84f0p-6,
    -0x1.e404fc218dcb1p-8,  0x1.7add6eada7089p-9,  -0x1.38ac5c2d3dd91p-10, 0x1.0b36af8e8e296p-11,
    -0x1.d3fd4b6e29a3ep-13, 0x1.a127ac18b2416p-14, -0x1.78de998af7d60p-15, 0x1.580ea721d5af8p-16,
    -0x1.3cb3ddccff489p-17, 0x1.25802cf488b9cp-18, -0x1.1274fc3f87a45p-19, 0x1.01fbab41e53aep-20,
    -0x1.ce3813d0144ffp-22, 0x1.a651c8776f286p-23, -0x1.1fd007eaa7974p-23, 0x1.29164ac052092p-24,
};

// 4.62e-20
inline constexpr double kLgammaLargeF64[] = {
    0x1.5555555555555p-4,  -0x1.6c16c16c08be2p-9,  0x1.a01a00e08b6a9p-11, -0x1.38128f610a141p-11,
    0x1.b8c4a85e25decp-11, -0x1.e28dd57a06c3fp-10, 0x1.fb6d76e43db58p-9,
};

// 5.62e-22
inline constexpr double kDigammaLargeF64[] = {
    0x1.5555555555555p-4, -0x1.111111110f61bp-7, 0x1.041040f883170p-8, -0x1.1110fe34ebc7ap-8,
    0x1.f06b8106ce756p-8, -0x1.578909bf244e8p-6, 0x1.3242b725569f5p-4, -0x1.511a0b38991dcp-3,
};

// 5.24e-08
inline constexpr double kErfFastPF32[] = {
    0x1.20dd760000000p+0, 0x1.72386a0000000p-3,  0x1.a665340000000p-5,
    0x1.bbc9f40000000p-9, 0x1.2795080000000p-12, 0x1.25ed900000000p-19,
};

// 5.24e-08
inline constexpr double kErfFastQF32[] = {
    0x1.0000000000000p+0, 0x1.f9620a0000000p-2,  0x1.c369d80000000p-4,
    0x1.d10bc80000000p-7, 0x1.1b86f20000000p-10, 0x1.4a83700000000p-15,
};

// 6.05e-09
inline constexpr double kTanhFastPF32[] = {
    0x1.0000000000000p+0,  0x1.1819b60000000p-3,  0x1.fa81a40000000p-9,
    0x1.d47a580000000p-16, 0x1.04e3540000000p-25, -0x1.a7878a0000000p-37,
};

// 6.05e-09
inline constexpr double kTanhFastQF32[] = {
    0x1.0000000000000p+0,  0x1.e162300000000p-2,  0x1.be28bc0000000p-6,
    0x1.9c3e860000000p-12, 0x1.57f46c0000000p-20,
};

// The binary digits of 2/pi after the point, most significant word first.
inline constexpr unsigned long long kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

inline constexpr double kErfcCentreF32 = 3.6875;
inline constexpr double kErfcCentreF64 = 3.8125;

}  // namespace jumar::emit::cpu::coeffs
